package sqlite

import (
	"testing"

	"filewise"
	"filewise/engine/enginetest"
)

func TestConformance(t *testing.T) {
	enginetest.Run(t, enginetest.Subject{
		Engine: New(), Kind: filewise.KindShards, Bytes: 4 << 20,
		Package: "./engine/sqlite", DiskFull: 24 << 20,
		Load:    100,
		NoRaw:   "SQLite has one writer at a time: there are no deadlocks",
		NoSever: "SQLite runs inside Filewise: there is no connection to lose",
	})
}
