package dialect

import (
	"context"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"filewise"
)

// knownNames matches the names of the workloads' tables and procedures: NewSchema's, and the ones that their SQL
// creates. No one else uses these names.
var knownNames = regexp.MustCompile(`^fw_((rows|inserts)(_\d{4,})?|frag[1-4]|loaded|insert|select|update|delete|` +
	`warehouse|district|customer|history|new_order|orders|order_line|item|stock|payment|order_status|delivery|stock_level|churn_\d+)$`)

// KnownName reports whether Filewise gives this name to a table or procedure in its databases.
func KnownName(name string) bool { return knownNames.MatchString(name) }

// Ident quotes an identifier with backticks, and doubles the backticks in it.
func Ident(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }

// Literal quotes a string for SQL that is executed with the usual sql_mode. It escapes backslashes and quotes, so that
// no text can end the literal.
func Literal(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `''`, "\x00", `\0`, "\n", `\n`, "\r", `\r`, "\x1a", `\Z`).Replace(s) + "'"
}

// FileName returns the name of a table or database in the form of InnoDB's files and catalogue. Letters beyond ASCII
// are kept, because only servers have their codes.
func FileName(name string) string {
	var b strings.Builder
	for _, r := range name {
		if r >= 0x80 || r == '_' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' {
			b.WriteRune(r)
			continue
		}
		fmt.Fprintf(&b, "@%04x", r)
	}
	return b.String()
}

// Exact reports whether FileName's result is exact, which it is without letters beyond ASCII.
func Exact(fileName string) bool { return !beyond.MatchString(fileName) }

var beyond = regexp.MustCompile(`[^\x00-\x7f]`)

// code matches the code that a server writes for a letter beyond ASCII.
const code = "(?:@[0-9A-Za-z]{2}|@[0-9a-f]{4})"

// Spell gives the tables' files the names that the server uses, once the files exist.
func (d *Design) Spell(ctx context.Context, db Queryer) error {
	for _, t := range d.Tables {
		guess := FileName(t.Name)
		unresolved := func(f File) bool { return d.fileOf(f.Path) == guess }
		if Exact(guess) || !slices.ContainsFunc(d.All(), unresolved) {
			continue
		}
		all, err := d.Product.TableFiles(ctx, db, "t.NAME LIKE ?", EscapeLike(d.Database)+"/%")
		if err != nil {
			return err
		}
		is := regexp.MustCompile("^" + beyond.ReplaceAllLiteralString(regexp.QuoteMeta(guess), code) + "$")
		var names []string
		for _, f := range all {
			if name := d.fileOf(f.Path); is.MatchString(name) && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
		if len(names) != 1 {
			return filewise.Errorf(filewise.CodePreflight, "take it out of custom.tables, or rename one of them",
				"the files of table %s cannot be identified by its name among %q", t.Name, names)
		}
		for _, files := range [][]File{d.Files, d.Later} {
			for i, f := range files {
				if unresolved(f) {
					dir, file := path.Split(f.Path)
					files[i].Path = dir + names[0] + strings.TrimPrefix(file, guess)
				}
			}
		}
	}
	return nil
}

// fileOf returns the name of the table to which a file belongs.
func (d *Design) fileOf(file string) string {
	name, _, _ := strings.Cut(strings.TrimSuffix(path.Base(file), ".ibd"), d.Product.Files.Partition)
	return name
}
