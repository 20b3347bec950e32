package experiment

import (
	"context"
	"errors"
	"testing"

	"filewise"
)

// cooled is a database whose own part of its server's cache can be emptied.
type cooled struct{ times int }

func (c *cooled) cool(context.Context) error { c.times++; return nil }

// If a server may not be restarted, a database may empty its own part of the cache: that is buffer-cold, and nothing
// makes the storage's cache cold there.
func TestCoolWithoutRestart(t *testing.T) {
	c := &cooled{}
	for cache, refused := range map[filewise.Cache]bool{filewise.CacheBufferCold: false, filewise.CacheStorageCold: true} {
		l := &life{db: &filewise.Database{Cool: c.cool}}
		if err := l.cool(t.Context(), filewise.Phase{Cache: cache}); errors.Is(err, filewise.ErrUnsupported) != refused {
			t.Errorf("%s: %v", cache, err)
		}
	}
	if c.times != 1 {
		t.Errorf("cooled %d times", c.times)
	}
}
