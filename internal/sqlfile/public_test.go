package sqlfile

import (
	"strings"
	"testing"
)

// TestPublic: of a statement strangers see Filewise's own words, whatever the dialect and however it is quoted.
func TestPublic(t *testing.T) {
	Must(Parse("x", "-- name: a\nSELECT wait_type FROM sys.dm_os_wait_stats WHERE id = {{.ID}} AND CREATE TABLE fw_rows\n", nil))
	for statement, want := range map[string]string{
		"SELECT wait_type FROM sys.dm_os_wait_stats WHERE id = 4711":         "SELECT wait_type FROM sys.dm_os_wait_stats WHERE id = ?",
		"CREATE TABLE [Grace's db].fw_rows -- Hopper\n":                      "CREATE TABLE ?.fw_rows",
		"SELECT hopper, 'o''hopper' FROM `hopper` WHERE id = N'D:\\hopper\\": "SELECT ? FROM ? WHERE id = ?",
		`SELECT 'a\'; hopper' FROM "hopper" /* hopper */ WHERE id = $1`:      "",
		"SELECT $x$ hopper $x$ FROM q'[hopper]' WHERE größe = 0xhopper":      "",
		"CREATE TABLE filewise_k3j5h8":                                       "CREATE TABLE ?",
	} {
		got := Public(statement)
		if strings.Contains(strings.ToLower(got), "hopper") || strings.Contains(got, "4711") || want != "" && got != want {
			t.Errorf("%s\n%s, want\n%s", statement, got, want)
		}
	}
	if got := Public(strings.Repeat("SELECT, ", 1000)); len(got) > mostPublic+5 {
		t.Errorf("%d bytes", len(got))
	}
}
