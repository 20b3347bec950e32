package client

import (
	"cmp"
	"context"
	"io"
	"net"
	"slices"

	"github.com/go-sql-driver/mysql"

	"filewise"
	"filewise/engine/innodb/dialect"
	"filewise/engine/internal/dumpfile"
	installed "filewise/engine/internal/server"
)

// Programs lists, by product, the programs that serve a purpose.
type Programs map[string]installed.Binary

// Find returns the path of a product's program.
func (p Programs) Find(of *dialect.Product) (string, error) { return p[of.Name].Find("") }

// Dumpers lists the programs that dump a product's databases, the preferred one first.
var Dumpers = Programs{
	"mariadb": {Names: []string{"mariadb-dump", "mysqldump"}, Places: []string{"/usr/bin", "/usr/local/bin"}, Package: "mariadb-client"},
	"mysql": {Names: []string{"mysqldump"}, Places: []string{"/usr/local/mysql/bin", "/usr/bin", "/usr/local/bin"},
		Remedy: "install MySQL's mysqldump"},
}

// Clients lists the programs that execute a product's dumps.
var Clients = Programs{
	"mariadb": {Names: []string{"mariadb", "mysql"}, Places: []string{"/usr/bin", "/usr/local/bin"}, Package: "mariadb-client"},
	"mysql": {Names: []string{"mysql"}, Places: []string{"/usr/local/mysql/bin", "/usr/bin", "/usr/local/bin"},
		Remedy: "install MySQL's client mysql"},
}

// Dump has a product's program write a dump, over a connection with the TLS options secured.
func Dump(ctx context.Context, to io.Writer, p *dialect.Product, a filewise.Address, secured []string, args ...string) error {
	program, err := Dumpers.Find(p)
	if err != nil {
		return err
	}
	place, err := place(a)
	if err != nil {
		return err
	}
	return dumpfile.Take(ctx, to, []string{"MYSQL_PWD=" + a.Password.Reveal()}, program,
		slices.Concat([]string{"--no-defaults"}, place, secured, args)...)
}

// place returns the arguments with which the servers' own programs connect to an address, except for TLS.
func place(a filewise.Address) ([]string, error) {
	c := mysql.NewConfig()
	if err := network(c, a, Port); err != nil {
		return nil, err
	}
	if c.Net == "unix" {
		return []string{"--user=" + a.User, "--socket=" + c.Addr}, nil
	}
	host, port, err := net.SplitHostPort(c.Addr)
	return []string{"--user=" + a.User, "--protocol=tcp", "--host=" + host, "--port=" + port}, err
}

// certificates returns a program's options for the files of certificates: its prefix, and ca, cert and key.
func certificates(given map[string]string, prefix string) (args []string) {
	for _, o := range [][2]string{{optionCA, "ca="}, {optionCert, "cert="}, {optionKey, "key="}} {
		if file := given[o[0]]; file != "" {
			args = append(args, prefix+o[1]+file)
		}
	}
	return args
}

// TLS returns the TLS options in the form of the product's program.
func TLS(p *dialect.Product, given map[string]string) (args []string, err error) {
	args = certificates(given, "--ssl-")
	switch mode := given["tls"]; {
	case given[optionServerName] != "", cmp.Or(mode, "false") != "false" && given[optionCA] == "":
		return nil, filewise.Errorf(filewise.CodeUsage, "take the dump yourself and give its file, or name "+optionCA,
			"the dump programs cannot take tls=%s alone, nor another server's name", mode)
	case given[optionCA] != "" && mode != "skip-verify" && mode != "preferred":
		args = append(args, map[string]string{"mariadb": "--ssl-verify-server-cert", "mysql": "--ssl-mode=VERIFY_IDENTITY"}[p.Name])
	}
	return args, nil
}

// Secured returns the TLS options for a product's program. If the program cannot take them whole, as mydumper cannot, the
// connection has as much of them as it can: the driver has checked the same server before.
func Secured(p *dialect.Product, given map[string]string) []string {
	args, err := TLS(p, given)
	if err == nil {
		return args
	}
	secure := map[string]string{"mariadb": "--ssl", "mysql": "--ssl-mode=REQUIRED"}
	switch {
	case given["tls"] == "preferred":
		secure = map[string]string{"mysql": "--ssl-mode=PREFERRED"}
	case given[optionCA] != "" && given["tls"] != "skip-verify": // but not the name
		secure["mysql"] = "--ssl-mode=VERIFY_CA"
	}
	args = certificates(given, "--ssl-")
	if s := secure[p.Name]; s != "" {
		args = append(args, s)
	}
	return args
}

// Place returns the arguments with which a product's program connects to a server.
func Place(p *dialect.Product, a filewise.Address) ([]string, error) {
	args, err := place(a)
	return append(args, Secured(p, a.Options)...), err
}

// Mydumper returns the arguments with which mydumper and myloader connect to the server. The password is in the
// environment.
func Mydumper(p *dialect.Product, a filewise.Address) ([]string, error) {
	c, err := Config(p, a)
	if err != nil {
		return nil, err
	}
	args := []string{"--user=" + c.User}
	if c.Net == "unix" {
		args = append(args, "--socket="+c.Addr)
	} else {
		host, port, err := net.SplitHostPort(c.Addr)
		if err != nil {
			return nil, err
		}
		args = append(args, "--host="+host, "--port="+port)
	}
	if c.TLS != nil {
		args = append(args, "--ssl")
	}
	return append(args, certificates(a.Options, "--")...), nil
}
