package sqlserver

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"strings"

	"filewise"
)

// version is a product version: 16.0.4085.2 is {16, 0, 4085}.
type version struct{ major, minor, build int }

func parseVersion(text string) (version, error) {
	parts := strings.Split(text, ".")
	var n [3]int
	for i := range n {
		if i >= len(parts) {
			return version{}, fmt.Errorf("%q is no version of SQL Server", text)
		}
		var err error
		if n[i], err = strconv.Atoi(parts[i]); err != nil || n[i] < 0 {
			return version{}, fmt.Errorf("%q is no version of SQL Server", text)
		}
	}
	return version{n[0], n[1], n[2]}, nil
}

// years maps major versions to releases.
var years = map[int]string{13: "2016", 14: "2017", 15: "2019", 16: "2022", 17: "2025"}

const oldest = 13

func (v version) String() string {
	if y := years[v.major]; y != "" {
		return y
	}
	return "version " + strconv.Itoa(v.major)
}

// atLeast reports whether the version is this build or later. Builds show what a service pack has added.
func (v version) atLeast(major, build int) bool {
	return v.major > major || v.major == major && v.build >= build
}

// allocation describes how sessions that allocate pages share the maps of free pages. Every database has such maps
// ("tempdb database", performance improvements).
func (v version) allocation() string {
	switch {
	case v.major >= 16:
		return "sessions update PFS, GAM and SGAM pages at the same time (from 2022 on): more files help allocation less than before"
	case v.major == 15:
		return "sessions update PFS pages at the same time (from 2019 on), GAM and SGAM pages one after the other"
	}
	return "sessions update PFS, GAM and SGAM pages one after the other"
}

// Engine editions (SERVERPROPERTY, "EngineEdition").
const (
	editionStandard   = 2
	editionEnterprise = 3
	editionExpress    = 4
)

// refusedEditions lists services on which the user cannot place files.
var refusedEditions = map[int64]string{
	5:  "Azure SQL Database has no files that a user could place",
	6:  "a dedicated SQL pool of Azure Synapse distributes its data itself",
	8:  "Azure SQL Managed Instance places files itself, and has no simple recovery model",
	9:  "Azure SQL Edge has ended, and nothing is known of its files",
	11: "a serverless SQL pool of Azure Synapse has no database files",
	12: "a SQL database in Microsoft Fabric has no files that a user could place",
}

// identity holds what the server reports about itself.
type identity struct {
	version       version
	versionText   string
	level         string
	edition       string
	engine        int64
	machine       string
	instance      string // "" for the default instance
	serverName    string
	data, log     serverDir
	noData        error // set if the default data directory is unknown, without which nothing is built
	clientAddress string
	serverAddress string
	sessions      int64
	login         string
}

func readIdentity(ctx context.Context, on *sql.DB) (identity, error) {
	r, err := ask(ctx, on, "identity", nil)
	if err != nil {
		return identity{}, err
	}
	i := identity{versionText: r.Text("version"), level: r.Text("level"), edition: r.Text("edition"), machine: r.Text("machine"),
		instance: r.Text("instance"), serverName: r.Text("server_name"),
		clientAddress: r.Text("client_address"), serverAddress: r.Text("server_address"), login: r.Text("login_name")}
	i.engine, _ = r.Number("engine_edition")
	i.sessions, _ = r.Number("max_connections")
	if i.version, err = parseVersion(i.versionText); err != nil {
		return i, filewise.Errorf(filewise.CodePreflight, "name a SQL Server 2016 or later", "%w", err)
	}
	if err := i.refuse(); err != nil {
		return i, err
	}
	if i.data, err = parseDir(r.Text("data_path")); err != nil {
		i.noData = filewise.Errorf(filewise.CodePreflight, "set it in the server's properties, page Database Settings",
			"the server's default data directory: %w", err)
	}
	if i.log, err = parseDir(r.Text("log_path")); err != nil {
		i.log = i.data
	}
	return i, nil
}

// isInstance refuses a server that is not the URL's instance. If the URL also has a port, the driver uses only the
// port.
func (i identity) isInstance(wanted string) error {
	found := cmp.Or(i.instance, "MSSQLSERVER")
	if wanted == "" || strings.EqualFold(wanted, found) {
		return nil
	}
	return filewise.Errorf(filewise.CodePreflight,
		"leave the port out to have the instance looked up (UDP 1434), or the instance to take the port's",
		"the URL names instance %s, and the server that answers is %s (%s)", wanted, found, i.serverName)
}

// refuse returns an error if a server cannot be measured at all.
func (i identity) refuse() error {
	if why := refusedEditions[i.engine]; why != "" {
		return filewise.Errorf(filewise.CodePreflight, "name your own SQL Server", "%s: %w", why, filewise.ErrUnsupported)
	}
	if i.version.major < oldest {
		return filewise.Errorf(filewise.CodePreflight, "name a SQL Server 2016 or later", "SQL Server %s is older than 2016 (13): %w",
			i.versionText, filewise.ErrUnsupported)
	}
	return nil
}

// expressLimit returns the limit on a database's data files in this edition ("Editions and supported features"). 0
// means that there is none.
func (i identity) expressLimit() int64 {
	switch {
	case i.engine != editionExpress:
		return 0
	case i.version.major >= 17:
		return 50 << 30
	}
	return 10 << 30
}

// compressesBackups reports whether the edition compresses backups: all except Express and Web do.
func (i identity) compressesBackups() bool {
	return i.engine == editionEnterprise || i.engine == editionStandard && !strings.HasPrefix(i.edition, "Web")
}

// sameHost reports whether client and server are one machine, as far as addresses and names show.
func (i identity) sameHost() bool {
	here := strings.ToUpper(strings.SplitN(hostName(), ".", 2)[0])
	return i.clientAddress == "<local machine>" || i.clientAddress != "" && i.clientAddress == i.serverAddress ||
		strings.HasPrefix(i.clientAddress, "127.") || i.clientAddress == "::1" || here != "" && strings.ToUpper(i.machine) == here
}

// permissions holds the account's permissions.
type permissions struct {
	create, view bool
	security     bool // sees the services of the server
	online       bool // can bring an offline database online, which its owner alone cannot (error 5011)
}

func readPermissions(ctx context.Context, on *sql.DB) (permissions, error) {
	r, err := ask(ctx, on, "rights", nil)
	if err != nil {
		return permissions{}, err
	}
	return permissions{
		create: r.Yes("create_any") || r.Yes("alter_any") || r.Yes("create_in_master"),
		online: r.Yes("alter_any"),
		view:   r.Yes("view_state") || r.Yes("view_performance"),
		// Older releases return NULL for the name.
		security: r.Yes("view_state") || r.Yes("view_security"),
	}, nil
}

// viewRight returns the right to see the server's state, and the statement that grants it.
func (v version) viewRight() (right, grant string) {
	if v.major >= divided {
		return mayPerformance, grantPerformance
	}
	return mayView, grantView
}

// grantSeeing returns the statement that lets the account see the server's state.
func (i identity) grantSeeing() string {
	_, grant := i.version.viewRight()
	return grantTo(grant, i.login)
}
