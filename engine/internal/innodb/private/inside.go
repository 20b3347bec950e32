package private

import (
	"database/sql"
	"fmt"

	"filewise"
	"filewise/engine/internal/innodb"
)

// Inside is what tests see of a build.
type Inside struct {
	Control     *sql.DB
	PID         int
	Schema      innodb.Schema
	Room        int64   // what rows can take of the system tablespace, in bytes
	BytesPerRow float64 // by the model of the fill
	Binlog      bool
	// BinlogRoom is what is kept free for the binary log of so many operations.
	BinlogRoom func(operations int64) int64
}

// Look is the inside of a database of Server.Build.
func Look(db *filewise.Database) (Inside, error) {
	s, ok := db.Settler.(settler)
	if !ok {
		return Inside{}, fmt.Errorf("%T is not of a private server", db.Settler)
	}
	p, control, err := s.instance.running()
	if err != nil {
		return Inside{}, err
	}
	d := s.instance.design
	return Inside{
		Control: control, PID: p.PID(), Schema: d.schema, BytesPerRow: d.rows().BytesPerRow(), Binlog: d.binlog(),
		Room: innodb.Room(d.layout.Data.Bytes, d.product.Files.SystemOwn, len(d.schema.Tables)),
		BinlogRoom: func(operations int64) int64 {
			copied := *d
			copied.program.WorkBytes = operations * d.program.OpBytes
			return copied.binlogRoom()
		},
	}, nil
}
