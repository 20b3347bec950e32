package postgres

import (
	"context"
	"io"

	"filewise"
	"filewise/engine/customsql"
	"filewise/engine/internal/dumpfile"
	"filewise/engine/postgres/client"
	"filewise/engine/postgres/dialect"
	"filewise/engine/postgres/installed"
	"filewise/engine/postgres/internal/dump"
)

// CheckDump reads a program's dump, and refuses layouts that cannot hold its tables.
func (Engine) CheckDump(ctx context.Context, t filewise.Target, layouts []filewise.Layout, p filewise.Program) error {
	in, err := installed.Find(ctx, t.ServerBin)
	if err != nil {
		return err
	}
	return dump.Check(ctx, in, layouts, p.Custom)
}

// ServerBin returns the directory of the oldest installed programs that are at least as new as the server.
func (Engine) ServerBin(ctx context.Context, t filewise.Target) (string, error) {
	l, err := client.Open(*t.Address, client.ReadingSettings())
	if err != nil {
		return "", err
	}
	defer l.Close()
	var number int
	if err := l.Scan(ctx, "SELECT current_setting('server_version_num')::integer", nil, &number); err != nil {
		return "", client.ConnectError(t.Address.String(), err)
	}
	in, err := installed.AtLeast(ctx, number)
	return in.Bin, err
}

// Dump writes a dump of the address's database with pg_dump.
func (Engine) Dump(ctx context.Context, t filewise.Target, to io.Writer) error {
	in, err := installed.Find(ctx, t.ServerBin)
	if err != nil {
		return err
	}
	if len(t.Address.Secrets) > 0 {
		return refuse("take the dump yourself, and give its file", "an address with further secrets, which pg_dump takes in sight "+
			"of others")
	}
	conninfo, env := client.Conninfo(*t.Address, t.Address.Path)
	return dumpfile.Take(ctx, to, append(env, "PGAPPNAME=filewise"), in.Program("pg_dump"), "--format=custom", "--compress=1",
		"--no-password", "--lock-wait-timeout=30s", "--dbname="+conninfo)
}

// restoreDump fills the database from the dump that a study names. Afterwards it adds the keys of partitions, if the
// layout has them, and gathers statistics.
func (i *instance) restoreDump(ctx context.Context) error {
	if err := dump.Restore(ctx, i.install, i.design.program.Custom.From, i.link, func(with string) map[string]customsql.Place {
		return i.design.customSite(with).Spread
	}); err != nil {
		return err
	}
	for _, t := range i.design.tables {
		for _, leaf := range t.Leaves {
			if leaf.index.name == "" {
				continue
			}
			indexes, err := i.link.Texts(ctx, "SELECT indexrelid::regclass::text FROM pg_index WHERE indrelid = to_regclass($1)",
				dialect.Table(leaf.Name))
			if err != nil {
				return err
			}
			for _, index := range indexes {
				if err := i.link.Exec(ctx, "ALTER INDEX "+index+" SET TABLESPACE "+dialect.Ident(leaf.index.name)); err != nil {
					return err
				}
			}
		}
	}
	return i.link.Exec(ctx, "ANALYZE")
}
