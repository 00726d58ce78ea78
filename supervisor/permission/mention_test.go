package permission

import (
	"os"
	"path/filepath"
	"testing"
)

func TestNoFileOutsideTheFolderIsAttachedByAMention(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	home, folder := filepath.Join(root, "home"), filepath.Join(root, "work")
	lay(t, root, map[string]string{"home/secret": "", "home/a b": "", "work/in": "", "work/sub/f": ""})
	for link, to := range map[string]string{"work/link": "../home/secret", "work/sub/only": "../../home/secret"} {
		if err := os.Symlink(to, filepath.Join(root, link)); err != nil {
			t.Fatal(err)
		}
	}
	for message, want := range map[string]string{
		"see @~/secret now":               "see `@~/secret` now",
		"@~/secret.":                      "`@~/secret.`",
		"a\n@" + home + "/secret#L1-2":    "a\n`@" + home + "/secret#L1-2`",
		"x\u00a0@../home/secret":          "x\u00a0`@../home/secret`",
		`see @"~/a b" and @"../home/a b"`: "see `@\"~/a b\"` and `@\"../home/a b\"`",
		"@link, @only":                    "`@link,` `@only`",
		"@sub/../link @.. @/":             "`@sub/../link` `@..` `@/`",
		"@in @sub/f @nobody @scope/x me@x.org\n\t@Override (@~/secret) @": "@in @sub/f @nobody @scope/x me@x.org\n\t@Override (@~/secret) @",
	} {
		if got := Unattached(message, home, folder, filepath.Join(folder, "sub")); got != want {
			t.Errorf("%q becomes %q, not %q", message, got, want)
		}
	}
}
