package mariadb

import (
	"context"
	"testing"

	"filewise"
	"filewise/engine/enginetest"
)

func TestConformance(t *testing.T) {
	subject.Need(t)
	for kind, engine := range map[filewise.Kind]filewise.Engine{
		filewise.KindSystem:     Engine{},
		filewise.KindPartitions: growingOnly{},
	} {
		t.Run(string(kind), func(t *testing.T) {
			enginetest.Run(t, enginetest.Subject{
				Engine: engine, Kind: kind, Bytes: 24 << 20, Files: []int{1, 4, 16}, Rows: 60,
				Package: "./engine/mariadb", DiskFull: 128 << 20,
				Target: func(v []filewise.Volume) filewise.Target {
					return filewise.Target{Engine: "mariadb", Mode: filewise.Managed, Volumes: v, Durability: filewise.DurabilityNormal}
				},
			})
		})
	}
}

// growingOnly is MariaDB as its kinds of a file for each table are: a server
// offers what at least one kind can do, and Build refuses it for the others.
type growingOnly struct{ Engine }

func (e growingOnly) Open(ctx context.Context, t filewise.Target) (filewise.Server, error) {
	s, err := e.Engine.Open(ctx, t)
	return growingServer{s}, err
}

type growingServer struct{ filewise.Server }

func (s growingServer) Offers() map[filewise.Capability]error {
	all := s.Server.Offers()
	all[filewise.CanPreallocate] = filewise.Errorf(filewise.CodeUsage, "", "InnoDB itself sizes the files of tables: %w", filewise.ErrUnsupported)
	return all
}
