package dialect

// Everywhere is the volume option for backups whose files take turns on all volumes.
const Everywhere = "all"

// Backup is a striped backup of a user's database. 0 means the server's default.
type Backup struct {
	Statement                               string
	Stripes                                 []string
	Compression                             string // "on", "off", or "" for the server's default
	BufferCount, MaxTransferSize, BlockSize int
}
