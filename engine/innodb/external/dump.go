package external

import (
	"context"
	"io"

	"filewise"
	"filewise/engine/innodb/client"
)

// Dump writes a dump of the address's database, in one read-only transaction.
func (d Engine) Dump(ctx context.Context, t filewise.Target, to io.Writer) error {
	secured, err := client.TLS(d.Product, t.Address.Options)
	if err != nil {
		return err
	}
	return client.Dump(ctx, to, d.Product, *t.Address, secured, "--single-transaction", "--quick", "--routines", "--events", "--triggers",
		"--no-tablespaces", "--databases", t.Address.Path)
}
