package filewise

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// BackupOptions are an engine's own parameters of a backup, such as "buffer=1MiB,compression=gzip", in the order of
// their names. Empty means its usual ones.
type BackupOptions string

// With is the options with one more, or another value of it.
func (o BackupOptions) With(name, value string) BackupOptions {
	all := append(o.Without(name).pairs(), name+"="+value)
	slices.Sort(all)
	return BackupOptions(strings.Join(all, ","))
}

// Without is the options without one.
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

// Get is the value of an option; false when it is not given.
func (o BackupOptions) Get(name string) (string, bool) {
	for _, p := range o.pairs() {
		if key, value, _ := strings.Cut(p, "="); key == name {
			return value, true
		}
	}
	return "", false
}

// BackupOption is an option that an engine has.
type BackupOption struct {
	Name  string
	Words string             // what it takes: "none or gzip"
	Check func(string) error // of a value
}

// Check refuses options that are not among the known ones, and their bad values.
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

// OneOf checks that a value is one of some.
func OneOf(values ...string) func(string) error {
	return func(v string) error {
		if !slices.Contains(values, v) {
			return fmt.Errorf("it is none of %s", strings.Join(values, ", "))
		}
		return nil
	}
}

// OptionVolume is the option of backups of a user's database that names their volume.
const OptionVolume = "volume"

// BackupTuner is an engine that makes backups of existing databases (Target.Database), which
// it only reads.
type BackupTuner interface {
	// BackupArms are the values of its options that are worth comparing here, each as
	// NAME=VALUE,VALUE with the usual one first.
	BackupArms(t Target, p Program) ([]string, error)
	// BackupScript returns the commands that make and restore a layout's backups without Filewise.
	BackupScript(t Target, l Layout, p Program) (BackupScript, error)
}

// BackupSizer is a server whose database (Target.Database) is backed up.
type BackupSizer interface {
	// BackupSize returns the bytes that a backup reads of that database, or of its part. It returns an error if the
	// part names what is not there.
	BackupSize(context.Context) (BackupSize, error)
}

// BackupSize is the size of a database, in bytes.
type BackupSize struct {
	Bytes, Whole int64         // of the part, which is all if none is named, and of all
	Last         time.Duration // of the last full backup by the server's own records. 0 means there are none
}

// BackupScript are lines of a POSIX shell, which stop at errors: "$to" is the directory to make,
// "$from" one that was made, "$database" the empty database to fill, and "$@" are further
// options of the user's.
type BackupScript struct {
	Notes           []string // to read before
	Backup, Restore []string
	// Proof describes how a backup was proved if it was not restored. Empty means it was.
	Proof string
	// Others are files with the same setting for other ways to run backups; nil if there are none.
	Others []OtherScript
}

// OtherScript is a further file of a BackupScript.
type OtherScript struct {
	Suffix  string // of the file's name, such as "-agent.sql"
	Comment string // begins a line of comment
	Notes   []string
	Text    string
}

// Matcher is a Restorer whose server may be installed in several releases.
type Matcher interface {
	// ServerBin is the directory of the oldest one that is as new as the server of an external target.
	ServerBin(context.Context, Target) (string, error)
}

// Restorer is an engine that fills builds from the dump of a database (CustomSQL.From).
type Restorer interface {
	// CheckDump reads a program's dump, and refuses layouts that cannot hold its tables,
	// by the table's name.
	CheckDump(context.Context, Target, []Layout, Program) error
	// Dump writes a consistent dump of the database that the address of an external target
	// names, in a session that only reads. It goes as fast as the writer takes it.
	Dump(context.Context, Target, io.Writer) error
}
