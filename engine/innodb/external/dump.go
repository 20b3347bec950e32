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

// dumpers are the programs that dump a product's databases, the preferred one first.
var dumpers = map[string]installed.Binary{
	"mariadb": {Names: []string{"mariadb-dump", "mysqldump"}, Places: []string{"/usr/bin", "/usr/local/bin"}, Package: "mariadb-client"},
	"mysql": {Names: []string{"mysqldump"}, Places: []string{"/usr/local/mysql/bin", "/usr/bin", "/usr/local/bin"},
		Remedy: "install MySQL's mysqldump"},
}

// Dump writes a dump of the database that the address names, in one transaction that only
// reads.
func (d Engine) Dump(ctx context.Context, t filewise.Target, to io.Writer) error {
	program, err := dumpers[d.Name].Find("")
	if err != nil {
		return err
	}
	c := mysql.NewConfig()
	if err := network(c, *t.Address, Port); err != nil {
		return err
	}
	args := []string{"--no-defaults", "--user=" + t.Address.User}
	if c.Net == "unix" {
		args = append(args, "--socket="+c.Addr)
	} else {
		host, port, err := net.SplitHostPort(c.Addr)
		if err != nil {
			return err
		}
		args = append(args, "--protocol=tcp", "--host="+host, "--port="+port)
	}
	secured, err := d.dumpTLS(t.Address.Options)
	if err != nil {
		return err
	}
	return dumpfile.Take(ctx, to, []string{"MYSQL_PWD=" + t.Address.Password.Reveal()}, program, slices.Concat(args, secured,
		[]string{"--single-transaction", "--quick", "--routines", "--events", "--triggers", "--no-tablespaces", "--databases",
			t.Address.Path})...)
}

// dumpTLS are the options of TLS as the product's program takes them.
func (d Engine) dumpTLS(given map[string]string) (args []string, err error) {
	for option, flag := range map[string]string{optionCA: "--ssl-ca=", optionCert: "--ssl-cert=", optionKey: "--ssl-key="} {
		if given[option] != "" {
			args = append(args, flag+given[option])
		}
	}
	switch mode := given["tls"]; {
	case given[optionServerName] != "", cmp.Or(mode, "false") != "false" && given[optionCA] == "":
		return nil, filewise.Errorf(filewise.CodeUsage, "take the dump yourself and give its file, or name "+optionCA,
			"the programs that dump cannot be told tls=%s alone, nor another server's name", mode)
	case given[optionCA] != "" && mode != "skip-verify" && mode != "preferred":
		args = append(args, map[string]string{"mariadb": "--ssl-verify-server-cert", "mysql": "--ssl-mode=VERIFY_IDENTITY"}[d.Name])
	}
	return args, nil
}
