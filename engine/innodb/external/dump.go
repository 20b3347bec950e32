package external

import (
	"cmp"
	"context"
	"io"
	"net"
	"slices"

	"github.com/go-sql-driver/mysql"

	"filewise"
	"filewise/engine/internal/dumpfile"
	installed "filewise/engine/internal/server"
)

// dumpers lists the programs that dump a product's databases, the preferred one first.
var dumpers = map[string]installed.Binary{
	"mariadb": {Names: []string{"mariadb-dump", "mysqldump"}, Places: []string{"/usr/bin", "/usr/local/bin"}, Package: "mariadb-client"},
	"mysql": {Names: []string{"mysqldump"}, Places: []string{"/usr/local/mysql/bin", "/usr/bin", "/usr/local/bin"},
		Remedy: "install MySQL's mysqldump"},
}

// Dump writes a dump of the address's database, in one read-only transaction.
func (d Engine) Dump(ctx context.Context, t filewise.Target, to io.Writer) error {
	program, err := dumpers[d.Name].Find("")
	if err != nil {
		return err
	}
	args, err := d.clientPlace(*t.Address)
	if err != nil {
		return err
	}
	secured, err := d.dumpTLS(t.Address.Options)
	if err != nil {
		return err
	}
	return dumpfile.Take(ctx, to, []string{"MYSQL_PWD=" + t.Address.Password.Reveal()}, program, slices.Concat([]string{"--no-defaults"}, args,
		secured, []string{"--single-transaction", "--quick", "--routines", "--events", "--triggers", "--no-tablespaces", "--databases",
			t.Address.Path})...)
}

// clientPlace returns the arguments with which the servers' own programs connect to an address, except for TLS.
func (d Engine) clientPlace(a filewise.Address) ([]string, error) {
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

// dumpTLS returns the TLS options in the form of the product's program.
func (d Engine) dumpTLS(given map[string]string) (args []string, err error) {
	for option, flag := range map[string]string{optionCA: "--ssl-ca=", optionCert: "--ssl-cert=", optionKey: "--ssl-key="} {
		if given[option] != "" {
			args = append(args, flag+given[option])
		}
	}
	switch mode := given["tls"]; {
	case given[optionServerName] != "", cmp.Or(mode, "false") != "false" && given[optionCA] == "":
		return nil, filewise.Errorf(filewise.CodeUsage, "take the dump yourself and give its file, or name "+optionCA,
			"the dump programs cannot take tls=%s alone, nor another server's name", mode)
	case given[optionCA] != "" && mode != "skip-verify" && mode != "preferred":
		args = append(args, map[string]string{"mariadb": "--ssl-verify-server-cert", "mysql": "--ssl-mode=VERIFY_IDENTITY"}[d.Name])
	}
	return args, nil
}
