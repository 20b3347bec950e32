//go:build linux

package mariadb

import (
	"testing"

	"filewise/engine/internal/innodb/privatetest"
)

func TestConformance(t *testing.T) { privatetest.Conformance(t, subject) }
