package client

import "filewise"

// About holds facts that backups of a user's database need of a server and its account.
type About struct {
	Version         int
	Banner, User    string
	Super, CreateDB bool
}

// Copy is a managed server with a copy of a user's database.
type Copy struct {
	Link    *Link
	Backups func(filewise.Layout) CopyBackups // of the whole server, by pgBackRest
	Close   func() error
}

// CopyBackups makes backups of a copy's server.
type CopyBackups interface {
	filewise.Backuper
	// Dir returns the last backup's directory.
	Dir() string
	// Restored returns a link to the restored server, or nil if there is none.
	Restored() *Link
}
