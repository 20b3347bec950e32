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
		NoSever: "the fake has no server",
	})
}
