package sqlserver

import (
	"time"

	"filewise"
	"filewise/engine/sqlserver/dialect"
)

// Engine implements filewise.Engine for SQL Server.
type Engine struct{}

// Name returns the engine's name on the command line.
func (Engine) Name() string { return engineName }

const (
	engineName = "sqlserver"
	// usualBytes gives each of 16 files 16 MiB. The first file cannot be smaller than model's first file, 8 MiB, and
	// proportional fill needs equal files.
	usualBytes = 256 << 20
)

// Unproven states a limit for every reader of a result.
const Unproven = "checked against the vendor's grammar and protocol, not yet run against the product"

// Describe describes the engine. It does not look for a server.
func (Engine) Describe() filewise.Description {
	return filewise.Description{
		Page: 8192, LeastFile: leastFile, CompressedBackup: "compression=on",
		Mode:  filewise.External,
		Files: "files of one filegroup, filled in proportion to their free space",
		Kinds: []filewise.Kind{filewise.KindFilegroup}, ExternalKinds: []filewise.Kind{filewise.KindFilegroup},
		NoKinds: map[filewise.Kind]string{filewise.KindPartitions: "on SQL Server a partition lies in a filegroup, whose files it shares " +
			"with all else there: its number of files is the filegroup's, which --files sets, and partitions change plans and locks instead. A " +
			"set-up in a study can make them (CREATE PARTITION FUNCTION, CREATE PARTITION SCHEME … ALL TO ([PRIMARY]))"},
		Bytes: usualBytes, Budget: 10 * time.Minute,
		UsualThere: map[string]filewise.Usual{
			"inserts": {Connections: 32, Apart: true, Row: 4000, CommitEvery: 100, Work: usualBytes / 4 * 3}, // contend for PFS and GAM
			// More than an extent for each file. Growing layouts of 8 files begin with 15 MiB.
			"dml":  {RowsAFile: 2_700, Step: extent, RowsGrown: 430_000, BytesGrown: leastFile + 7*leastFurther},
			"temp": {Connections: 32},
			"scan": {Bytes: 40 * leastFile, Files: []int{1, 40}},
		},
		Schemes: []string{engineName, "mssql"}, Port: dialect.DefaultPort,
		Rights:       append([]string{"CREATE LOGIN [filewise] WITH PASSWORD = N'…';"}, filewise.Grants(needs)...),
		Needs:        needs,
		BackupsThere: true,
		TempAsIs:     true, Cools: true, Cycles: true, Identity: true,
		Unproven: Unproven,
		Licence: "Microsoft's licence terms forbid disclosing benchmark results of SQL Server to a third party without its written approval: " +
			"results stay on this machine unless you export them",
		Note: "the server writes to the log what it commits and to the data files at checkpoints: " +
			"with a log on the same storage, a verdict is also one on the log",
	}
}

const (
	grantCreate = "GRANT CREATE ANY DATABASE TO [filewise];"
	grantView   = "GRANT VIEW SERVER STATE TO [filewise]; -- 2016 to 2019: " + forView
	forView     = "free space, other sessions, I/O per file; without it these are not reported"
	grantEither = "GRANT VIEW SERVER STATE TO [filewise]; -- from 2022 on VIEW SERVER PERFORMANCE STATE is enough: " + forView
	// From 2022 on VIEW SERVER STATE implies both.
	grantPerformance = "GRANT VIEW SERVER PERFORMANCE STATE TO [filewise]; -- from 2022 on: " + forView
	grantSecurity    = "GRANT VIEW SERVER SECURITY STATE TO [filewise]; -- from 2022 on: whether data files are written full of zeros"
	grantOnline      = "GRANT ALTER ANY DATABASE TO [filewise]; -- for --cache buffer-cold and --measure lifecycle only: the owner of a " +
		"database may set it offline, and not online again"
	grantBackup = "USE [your database]; CREATE USER [filewise] FOR LOGIN [filewise]; ALTER ROLE db_backupoperator ADD MEMBER " +
		"[filewise]; -- for backups of it only"
	grantRead = "USE [your database]; CREATE USER [filewise] FOR LOGIN [filewise]; GRANT VIEW DEFINITION TO [filewise]; GRANT VIEW DATABASE " +
		"STATE TO [filewise]; ALTER ROLE db_datareader ADD MEMBER [filewise]; -- for capture, apply and proofs of backups only"
	grantHistory = "USE [msdb]; CREATE USER [filewise] FOR LOGIN [filewise]; GRANT SELECT ON dbo.backupset TO [filewise]; -- for the time " +
		"of a database's last backup only"
)

// The rights in needs.
const (
	mayCreate      = "CREATE ANY DATABASE"
	mayView        = "VIEW SERVER STATE"
	mayPerformance = "VIEW SERVER PERFORMANCE STATE"
	maySecurity    = "VIEW SERVER SECURITY STATE"
	mayOnline      = "ALTER ANY DATABASE"
	mayBackUp      = "db_backupoperator in your database"
	mayRead        = "VIEW DEFINITION, VIEW DATABASE STATE and db_datareader in your database"
	mayHistory     = "SELECT on msdb.dbo.backupset"
)

// divided is the first version with separate rights for the state of performance and for the state of security.
const divided = 16 // 2022

// viewers lists the commands that look at the server's state.
var viewers = []string{"doctor", "run", "run scan --cache buffer-cold", "run --measure lifecycle", "run custom --from", "backup", "inspect",
	"capture"}

// viewless lists what is absent without the rights of viewers.
const viewless = "free space, others' sessions (--abort-if), I/O per file and waits; most of inspect; what the plan cache counts"

// needs lists rights for SQL Server 2016 and later. The account that creates a database owns it, which is all it needs
// within the database.
var needs = []filewise.Need{
	{Right: mayCreate, Grant: grantCreate, Parts: []string{"backup"}, Without: "no backup is restored and compared",
		Commands: []string{"run", "run scan --cache buffer-cold", "run --measure lifecycle", "run custom --from"}},
	{Right: mayView, Grant: grantView, Versions: "2016 to 2019", Until: divided - 1, Parts: viewers, Without: viewless},
	{Right: mayPerformance, Grant: grantPerformance, Versions: "from 2022 on", From: divided, Parts: viewers, Without: viewless},
	{Right: maySecurity, Grant: grantSecurity, Versions: "from 2022 on", From: divided,
		Parts:   []string{"doctor", "run", "run scan --cache buffer-cold", "run --measure lifecycle", "run custom --from"},
		Without: "whether instant file initialization is on"},
	{Right: mayOnline, Grant: grantOnline, Commands: []string{"run scan --cache buffer-cold", "run --measure lifecycle"},
		Parts: []string{"clean"}, Without: "a database that is offline stays; clean names the statement that brings it back"},
	{Right: mayBackUp, Grant: grantBackup, Commands: []string{"backup"}},
	{Right: mayRead, Grant: grantRead, Commands: []string{"backup", "capture", "apply"}},
	{Right: mayHistory, Grant: grantHistory, Parts: []string{"backup"}, Without: "the hours that a plan foresees follow from an assumed rate"},
}

// usage returns an error about the user's input.
func usage(remedy, format string, args ...any) error {
	return filewise.Errorf(filewise.CodeUsage, remedy, format, args...)
}

// unsupported returns an error about what SQL Server or this adapter cannot do.
var unsupported = filewise.Unsupported

// appName is the prefix of the program name of all of Filewise's sessions.
const appName = loginApp
