package fake

import (
	"testing"

	"filewise"
	"filewise/engine/enginetest"
)

func TestConformance(t *testing.T) {
	enginetest.Run(t, enginetest.Subject{
		Engine: New(Config{}), Kind: filewise.KindShards, Bytes: 4 << 20,
		Package: "./engine/fake", NoDiskFull: "the fake has no files",
		Load:    600,
		NoRaw:   "the fake has no SQL",
		NoSever: "the fake has no server",
	})
}
