package managed

import (
	"database/sql"
	"fmt"
	"sync"

	"filewise"
	"filewise/engine/innodb/dialect"
	"filewise/engine/internal/server"
)

// TryOnce has targets of a product tried once; their data directories come from templates
// if the product's do.
func TryOnce(p *dialect.Product) {
	var (
		facts     sync.Map // []filewise.Fact by what decides them
		templates = server.Templates{}
	)
	own, once := newTemplates, tried
	newTemplates = func(of *dialect.Product) *server.Templates {
		if of == p && p.Managed.Templates {
			return &templates
		}
		return own(of)
	}
	tried = func(s *openServer, try func() ([]filewise.Fact, error)) ([]filewise.Fact, error) {
		if s.product != p {
			return once(s, try)
		}
		key := fmt.Sprintf("%q %q %q", s.install.Binary, s.target.Durability, s.target.Settings)
		if known, ok := facts.Load(key); ok {
			return known.([]filewise.Fact), nil
		}
		got, err := try()
		if err == nil {
			facts.Store(key, got)
		}
		return got, err
	}
}

// Inside holds what tests see of a build.
type Inside struct {
	Control     *sql.DB
	PID         int
	Schema      dialect.Schema
	Capacity    int64   // what rows can take of the system tablespace, in bytes
	BytesPerRow float64 // by the model of the fill
	Binlog      bool
	// BinlogRoom returns what is kept free for the binary log of so many operations.
	BinlogRoom func(operations int64) int64
}

// Look returns the inside of a database of Server.Build.
func Look(db *filewise.Database) (Inside, error) {
	i, ok := db.Build.(build)
	if !ok {
		return Inside{}, fmt.Errorf("%T is not of a managed server", db.Build)
	}
	p, control, err := i.running()
	if err != nil {
		return Inside{}, err
	}
	d := i.design
	return Inside{
		Control: control, PID: p.PID(), Schema: d.Schema, BytesPerRow: d.rows().BytesPerRow(), Binlog: d.binlog(),
		Capacity: dialect.Capacity(d.Layout.Data.Bytes, d.Product.Files.SystemBytes, len(d.Tables)),
		BinlogRoom: func(operations int64) int64 {
			copied := *d
			copied.Program.WorkBytes = operations * d.Program.First().OpBytes
			return copied.binlogRoom()
		},
	}, nil
}
