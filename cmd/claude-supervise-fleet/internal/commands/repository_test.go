package commands

import (
	"strings"
	"testing"
)

func TestAPathOfThisMachineIsNoRepositoryOfAFleet(t *testing.T) {
	t.Chdir(t.TempDir())
	for repo, is := range map[string]bool{
		".": true, "shop": true, "../shop": true, "/srv/git/shop.git": true, "./a:b": true, "~/shop": true,
		"": false, "https://git.example.com/shop.git": false, "file:///srv/git/shop.git": false,
		"git@git.example.com:shop.git": false, "host:/srv/shop": false,
	} {
		err := checkRepository(repo)
		if (err != nil) != is {
			t.Errorf("%q: %v", repo, err)
		}
		if err != nil && !strings.Contains(err.Error(), "\n  --repo file:///") {
			t.Errorf("%q: nobody is told what to type: %v", repo, err)
		}
	}
}
