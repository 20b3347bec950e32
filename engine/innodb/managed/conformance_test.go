//go:build linux

package managed_test

import (
	"context"
	"testing"

	"filewise"
	"filewise/engine/enginetest"
	"filewise/engine/innodb/managed"
	"filewise/engine/innodb/servertest"
)

// The suite of all engines, on the kinds that differ.
func TestConformance(t *testing.T) {
	t.Parallel()
	for _, sub := range subjects() {
		t.Run(sub.Engine.Name(), func(t *testing.T) {
			t.Parallel()
			testConformance(t, sub)
		})
	}
}

func testConformance(t *testing.T, sub subject) {
	sub.Need(t)
	s := enginetest.Subject{
		Engine: sub.Engine, Files: []int{1, 4}, Rows: 60, Parallel: true,
		Package: "./engine/innodb/managed", DiskFull: sub.Full,
		Target: func(v []filewise.Volume) filewise.Target {
			return filewise.Target{Engine: sub.Engine.Name(), Mode: filewise.Managed, Volumes: v, Durability: filewise.DurabilityNormal}
		},
		Sever: sever,
	}
	t.Run(string(filewise.KindSystem), func(t *testing.T) {
		t.Parallel()
		s := s
		s.Only, s.Kind, s.Bytes = sub.OfSystem, filewise.KindSystem, 48<<20 // of one of 4 files a database can begin with
		s.Raw, s.Load, s.Lacks, s.Most = rawConn, sub.Load, sub.Lacks, 16
		enginetest.Run(t, s)
	})
	t.Run(string(filewise.KindPartitions), func(t *testing.T) {
		t.Parallel()
		s := s
		s.Kind, s.Bytes, s.Only = filewise.KindPartitions, 24<<20, sub.OfPartitions
		s.NoRaw = "locks do not depend on the kind: see system"
		s.Lacks = []filewise.Capability{filewise.CanPreallocate}
		s.LacksArms = []filewise.AddedLater{filewise.LaterNewData}
		enginetest.Run(t, s)
	})
}

// sever has the server end the connections of a build's sessions.
func sever(ctx context.Context, db *filewise.Database) error {
	in, err := managed.Look(db)
	if err != nil {
		return err
	}
	return servertest.Sever(ctx, in.Control, managed.Database)
}
