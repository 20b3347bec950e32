package mariadb

import (
	"testing"

	"filewise"
	"filewise/engine/enginetest"
)

func TestConformance(t *testing.T) {
	need(t)
	for _, kind := range []filewise.Kind{filewise.KindSystem, filewise.KindPartitions} {
		t.Run(string(kind), func(t *testing.T) {
			enginetest.Run(t, enginetest.Subject{
				Engine: Engine{}, Kind: kind, Bytes: 24 << 20, Files: []int{1, 4, 16}, Rows: 60,
				Package: "./engine/mariadb", DiskFull: 128 << 20,
				Target: func(v []filewise.Volume) filewise.Target {
					return filewise.Target{Engine: "mariadb", Mode: filewise.Managed, Volumes: v, Durability: filewise.DurabilityNormal}
				},
			})
		})
	}
}
