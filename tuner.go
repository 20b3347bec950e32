package filewise

// OptionVolume is the option of backups of a user's database that names their volume.
const OptionVolume = "volume"

// BackupTuner is an engine that makes backups of existing databases (Target.Database), which
// it only reads.
type BackupTuner interface {
	// BackupArms are the values of its options that are worth comparing here, each as
	// NAME=VALUE,VALUE with the usual one first.
	BackupArms(t Target, p Program) ([]string, error)
	// BackupScript is how to make and restore a layout's backups without Filewise.
	BackupScript(t Target, l Layout, p Program) (BackupScript, error)
}

// BackupScript are lines of a POSIX shell, which stop at errors: "$to" is the directory to make,
// "$from" one that was made, "$database" the empty database to fill, and "$@" are further
// options of the user's.
type BackupScript struct {
	Notes           []string // what to know before
	Backup, Restore []string
	// Proof is how a backup was proved where it was not restored; empty: it was.
	Proof string
}
