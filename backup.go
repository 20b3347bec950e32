package filewise

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// BackupOptions holds an engine's own parameters of a backup, such as "buffer=1MiB,compression=gzip", sorted by name.
// Empty means the engine's usual parameters.
type BackupOptions string

// With returns the options with the named one set to value.
func (o BackupOptions) With(name, value string) BackupOptions {
	all := append(o.Without(name).pairs(), name+"="+value)
	slices.Sort(all)
	return BackupOptions(strings.Join(all, ","))
}

// Without returns the options without the named one.
func (o BackupOptions) Without(name string) BackupOptions {
	all := slices.DeleteFunc(o.pairs(), func(p string) bool { return strings.HasPrefix(p, name+"=") })
	return BackupOptions(strings.Join(all, ","))
}

func (o BackupOptions) pairs() []string {
	if o == "" {
		return nil
	}
	return strings.Split(string(o), ",")
}

// Get returns an option's value. It returns false if the option is not set.
func (o BackupOptions) Get(name string) (string, bool) {
	for _, p := range o.pairs() {
		if key, value, _ := strings.Cut(p, "="); key == name {
			return value, true
		}
	}
	return "", false
}

// BackupOption describes an option of an engine's backups.
type BackupOption struct {
	Name  string
	Words string             // the values it takes: "none or gzip"
	Check func(string) error // checks a value
}

// Check returns an error if an option is unknown, or its value is bad.
func (o BackupOptions) Check(known []BackupOption) error {
	for _, p := range o.pairs() {
		name, value, _ := strings.Cut(p, "=")
		i := slices.IndexFunc(known, func(k BackupOption) bool { return k.Name == name })
		if i < 0 {
			have := Each(known, func(k BackupOption) string { return k.Name + " (" + k.Words + ")" })
			remedy := "leave it out: there are none here"
			if len(have) > 0 {
				remedy = "there are " + strings.Join(have, ", ")
			}
			return Errorf(CodeUsage, remedy, "--backup-option %s: %w", name, ErrUnsupported)
		}
		if err := known[i].Check(value); err != nil {
			return Errorf(CodeUsage, "give "+known[i].Words, "--backup-option %s=%s: %w", name, value, err)
		}
	}
	return nil
}

// OneOf returns a function that checks that a value is one of these.
func OneOf(values ...string) func(string) error {
	return func(v string) error {
		if !slices.Contains(values, v) {
			return fmt.Errorf("it must be one of %s", strings.Join(values, ", "))
		}
		return nil
	}
}

// OptionVolume names the option for the volume of a user's database's backups.
const OptionVolume = "volume"

// BackupTuner is an engine that backs up existing databases (Target.Database), and only reads them.
type BackupTuner interface {
	// BackupArms returns the option values worth comparing here, each as NAME=VALUE,VALUE with the usual value first.
	BackupArms(t Target, p Program) ([]string, error)
	// BackupScript returns the commands that make and restore a layout's backups without Filewise.
	BackupScript(t Target, l Layout, p Program) (BackupScript, error)
}

// BackupSize is the size of a database, in bytes.
type BackupSize struct {
	Bytes, Whole int64         // of the part and of the whole database; equal if no part is named
	Last         time.Duration // of the last full backup by the server's own records. 0 means there are none
}

// BackupScript holds lines of a POSIX shell that stop at errors. "$to" is the directory to make, "$from" a directory
// made before, "$database" the empty database to fill, and "$@" holds further options of the user's.
type BackupScript struct {
	Notes           []string // to read first
	Backup, Restore []string
	// Proof describes how a backup was proved without restoring it. It is empty if the backup was restored.
	Proof string
	// Others holds files that run the same backup in other ways; nil if there are none.
	Others []OtherScript
}

// OtherScript is a further file of a BackupScript.
type OtherScript struct {
	Suffix  string // of the file's name, such as "-agent.sql"
	Comment string // begins a line of comment
	Notes   []string
	Text    string
}

// Restorer is an engine that fills builds from the dump of a database (CustomSQL.From).
type Restorer interface {
	// CheckDump reads a program's dump. It refuses layouts that cannot hold the dump's tables, and names the table.
	CheckDump(context.Context, Target, []Layout, Program) error
	// Dump writes a consistent dump of the database that an external target's address names. Its session only reads. The
	// writer sets its speed.
	Dump(context.Context, Target, io.Writer) error
}
