package target

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"filewise"
)

// People write SQL Server's addresses as its own tools and drivers have them.
func TestOtherForms(t *testing.T) {
	schemes := []string{"postgres", "sqlserver"}
	for _, x := range [][2]string{
		{`db1\SQLEXPRESS`, "db1|0|SQLEXPRESS|||map[]"},
		{`(local)`, "localhost|0||||map[]"},
		{`.`, "localhost|0||||map[]"},
		{`Server=[::1],14330;Network Library=DBMSSOCN;uid=ada;pwd=p`, "::1|14330||ada|p|map[]"},
		{`jdbc:sqlserver://[fe80::1]:1433;user=ada;password=p`, "fe80::1|1433||ada|p|map[]"},
		{`jdbc:sqlserver://[::1];user=ada;password=p`, "::1|0||ada|p|map[]"},
		{`jdbc:sqlserver://db1\A:1433;integratedSecurity=true`, "db1|1433|A|||map[]"},
		{`(local)\DEV`, "localhost|0|DEV|||map[]"},
		{`db1,14330`, "db1|14330||||map[]"},
		{`tcp:db1,1433`, "db1|1433||||map[]"},
		{`db1\INST,14330`, "db1|14330|INST|||map[]"},
		{`jdbc:sqlserver://db1:1433;databaseName=shop;user=ada;password={p;}}x}`, "db1|1433||ada|p;}x|map[database:shop]"},
		{`Server=tcp:db1,1433;Initial Catalog=shop;User ID=ada;Password='a;b=c';MultipleActiveResultSets=True;Connect Timeout=30`,
			"db1|1433||ada|a;b=c|map[database:shop]"},
		{`Data Source=.;Integrated Security=SSPI;Encrypt=yes;TrustServerCertificate=True`,
			"localhost|0||||map[TrustServerCertificate:True encrypt:yes]"},
		// As Visual Studio and Management Studio copy it.
		{`Data Source=db1\A;Initial Catalog=shop;Integrated Security=True;Persist Security Info=False;Pooling=False;Connect Timeout=30;` +
			`Encrypt=True;Trust Server Certificate=True;Application Name="SQL Server Management Studio";Command Timeout=0;` +
			`Application Intent=ReadWrite;Multi Subnet Failover=False`,
			"db1|0|A|||map[TrustServerCertificate:True database:shop encrypt:True multisubnetfailover:False]"},
		{`Server=db1\A;Trusted_Connection=no;uid=ada;pwd=a://b`, "db1|0|A|ada|a://b|map[]"},
	} {
		text, want := x[0], x[1]
		a, err := Parse(text, schemes)
		got := strings.Join([]string{a.Host, strconv.Itoa(a.Port), a.Path, a.User, a.Password.Reveal(), fmt.Sprint(a.Options)}, "|")
		if err != nil || got != want || a.Scheme != sqlserver {
			t.Errorf("%s: %s, want %s: %v", text, got, want, err)
		}
	}
	for text, remedy := range map[string]string{
		`(localdb)\MSSQLLocalDB`:     "Express",
		`np:\\db1\pipe\sql\query`:    "TCP/IP",
		`\\.\pipe\MSSQL$A\sql\query`: "TCP/IP",
		`lpc:db1`:                    "TCP/IP",
		`Server=db1;Network Library=dbnmpntw;Trusted_Connection=yes`:    "TCP/IP",
		`Server=db1;Trusted_Connection=yes;User ID=ada;Password=geheim`: "leave the user",
		`Server=db1;Trusted_Connection=yes;ApplicationIntent=ReadOnly`:  "ApplicationIntent",
		`Server=db1;Password=geheim;Geheim2=x`:                          "give a URL",
		`Database=shop;User=ada;Password=geheim`:                        "Server=HOST",
		`db1`: "give it as SCHEME://USER@HOST:PORT/DATABASE?OPTION=VALUE; " +
			"a SQL Server as tcp:HOST",

		`Server=db1;Password="geheim`:             "give it as",
		`Server=db1,99999;Password=geheim;User=a`: "port",
	} {
		_, err := Parse(text, schemes)
		if filewise.CodeOf(err) != filewise.CodeUsage || !strings.Contains(filewise.RemedyOf(err), remedy) ||
			strings.Contains(err.Error(), "eheim") {
			t.Errorf("%s: %v; %s", text, err, filewise.RemedyOf(err))
		}
	}
	for _, text := range []string{`Server=db1;User ID=ada;Password='ge heim;x'`, "jdbc:sqlserver://db1:1433;user=ada;password={ge heim;x}"} {
		if masked := filewise.Hide(text, SecretsIn(text)...); strings.Contains(masked, "heim") {
			t.Errorf("%s is masked as %s", text, masked)
		}
	}
	if _, err := Parse(`db1\SQLEXPRESS`, []string{"postgres"}); err == nil {
		t.Error("a server of SQL Server's where there is none")
	}
}
