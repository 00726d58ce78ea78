package signals

import (
	"encoding/json"
	"fmt"
	"os"
	"testing"
)

func TestZ(t *testing.T) {
	b, _ := os.ReadFile(os.Getenv("F"))
	id := os.Getenv("ID")
	sc := NewScanner(Config{AgentID: id})
	sc.BeginMessage(Main, "1")
	sigs := append(sc.Text(string(b)), sc.EndTurn("")...)
	for _, s := range sigs {
		s.Raw = ""
		j, _ := json.MarshalIndent(s, "", "  ")
		fmt.Println(string(j))
	}
	fmt.Println(sc.Problems())
}
