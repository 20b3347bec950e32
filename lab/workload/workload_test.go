package workload

import (
	"context"
	"crypto/md5"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math/big"
	"strconv"
	"strings"
	"testing"

	"filewise"
)

var standard = Params{Connections: 3, RowBytes: 10, CommitEvery: 1, Table: TableShared, Key: KeySequential}

func TestRowsFollowFromSeedWorkerAndNumber(t *testing.T) {
	for _, key := range []string{KeySequential, KeyRandom} {
		p := standard
		p.Key = key
		g, again, other := newRows(p, 7), newRows(p, 7), newRows(p, 8)
		same := true
		for i := int64(0); i < 100; i++ {
			a, b, c := g.Args(nil, 2, i), again.Args(nil, 2, i), other.Args(nil, 2, i)
			if a[0] != b[0] || a[1] != b[1] {
				t.Fatalf("%s key, row %d: %v and %v from the same seed", key, i, a, b)
			}
			same = same && a[1] == c[1]
			if len(a[1].(string)) != p.RowBytes {
				t.Fatalf("payload of %d bytes, want %d", len(a[1].(string)), p.RowBytes)
			}
		}
		if same {
			t.Errorf("%s key: another seed gives the same payloads", key)
		}
	}
}

func TestKeysAreUnique(t *testing.T) {
	for _, key := range []string{KeySequential, KeyRandom} {
		p := standard
		p.Key = key
		g := newRows(p, 1)
		seen := map[int64]bool{}
		descents, last := 0, int64(0)
		for i := int64(0); i < 100_000; i++ {
			for w := range p.Connections {
				id, _ := g.row(w, i)
				if id < 1 || seen[id] {
					t.Fatalf("%s key %d of row %d/%d is not positive or not unique", key, id, w, i)
				}
				seen[id] = true
				if id < last {
					descents++
				}
				last = id
			}
		}
		if random := descents > 100_000; random != (key == KeyRandom) {
			t.Errorf("%s keys: %d of 300,000 are lower than the one before", key, descents)
		}
	}
}

// The formula that servers reproduce, computed with unbounded integers: no
// intermediate value of the 64-bit one may overflow, whatever the row.
func TestGeneratorDoesNotOverflow(t *testing.T) {
	p := standard
	p.Key = KeyRandom
	for seed := uint64(0); seed < 50; seed++ {
		g := newRows(p, seed)
		for _, i := range []int64{0, 1, 1 << 20, g.limit() - 1} {
			q := big.NewInt(i*3 + 2)
			mod := big.NewInt(Modulus)
			x := new(big.Int).Mod(new(big.Int).Add(new(big.Int).Mul(q, big.NewInt(g.a)), big.NewInt(g.b)), mod)
			y := new(big.Int).Exp(x, big.NewInt(2), mod)
			want := new(big.Int).Exp(x, big.NewInt(5), mod).Int64() + 1
			id, offset := g.row(2, i)
			if id != want || int64(offset) != y.Int64()%PoolSpan {
				t.Errorf("seed %d row %d: id %d offset %d, want %d %d", seed, i, id, offset, want, y.Int64()%PoolSpan)
			}
		}
	}
	if q := g5(); q.Cmp(big.NewInt(1)) != 0 {
		t.Errorf("5 and P−1 share the factor %v: random keys would repeat", q)
	}
}

func g5() *big.Int {
	return new(big.Int).GCD(nil, nil, big.NewInt(5), big.NewInt(Modulus-1))
}

type table struct {
	result [][]any
	err    error
}

func (t table) Query(context.Context, string) ([][]any, error) { return t.result, t.err }

func TestCheck(t *testing.T) {
	w, err := NewInserts(standard, 5)
	if err != nil {
		t.Fatal(err)
	}
	ledger := filewise.Ledger{40_000, 0, 3}
	var want, byMD5 uint64
	for c, n := range ledger {
		for i := range n {
			a := w.Program().First().Args.Args(nil, c, i)
			text := []byte(strconv.FormatInt(a[0].(int64), 10) + "," + a[1].(string))
			want += uint64(crc32.ChecksumIEEE(text))
			h := md5.Sum(text)
			byMD5 += uint64(binary.BigEndian.Uint32(h[:4]))
		}
	}
	sum := strconv.FormatUint(want, 10)
	for name, c := range map[string]struct {
		result [][]any
		ok     bool
		check  bool // wraps ErrCheck
	}{
		"integers":         {[][]any{{int64(40_003), int64(want)}}, true, false},
		"text":             {[][]any{{"40003", []byte(sum)}}, true, false},
		"several files":    {[][]any{{int64(40_000), int64(want - 9)}, {int64(3), int64(9)}, {int64(0), nil}}, true, false},
		"by MD5":           {[][]any{{"40003", fmt.Sprint("md5:", byMD5)}, {"0", []byte("md5:")}}, true, false},
		"damaged, by MD5":  {[][]any{{"40003", fmt.Sprint("md5:", byMD5+1)}}, false, true},
		"another digest":   {[][]any{{"40003", fmt.Sprint("md5:", want)}}, false, true},
		"a row missing":    {[][]any{{int64(40_002), int64(want)}}, false, true},
		"a row damaged":    {[][]any{{int64(40_003), int64(want + 1)}}, false, true},
		"nothing":          {nil, false, false},
		"one column":       {[][]any{{int64(40_003)}}, false, false},
		"a fraction":       {[][]any{{int64(40_003), sum + ".0"}}, false, false},
		"a float":          {[][]any{{float64(40_003), int64(want)}}, false, false},
		"sum absent":       {[][]any{{int64(40_003), nil}}, false, false},
		"negative numbers": {[][]any{{int64(-1), int64(want)}}, false, false},
	} {
		err := w.Check(context.Background(), table{result: c.result}, 0, []filewise.Ledger{ledger})
		if (err == nil) != c.ok || errors.Is(err, filewise.ErrCheck) != c.check {
			t.Errorf("%s: error %v", name, err)
		}
	}
	lost := errors.New("connection lost")
	if err := w.Check(context.Background(), table{err: lost}, 0, []filewise.Ledger{ledger}); !errors.Is(err, lost) {
		t.Errorf("error %v does not wrap its cause", err)
	}
	if err := w.Check(context.Background(), table{}, 0, []filewise.Ledger{{1}}); err == nil {
		t.Error("a ledger of another number of connections is accepted")
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := w.Check(ctx, table{result: [][]any{{int64(1), int64(1)}}}, 0, []filewise.Ledger{ledger}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled check: %v", err)
	}
}

func TestValidate(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Params)
		says   string
		remedy string
	}{
		"connections 0":    {func(p *Params) { p.Connections = 0 }, "--connections 0", "--connections 1"},
		"connections 2001": {func(p *Params) { p.Connections = 2001 }, "--connections 2001", "--connections 2000"},
		"row bytes":        {func(p *Params) { p.RowBytes = 1<<20 + 1 }, "--row-bytes 1048577", "--row-bytes 1048576"},
		"commit every":     {func(p *Params) { p.CommitEvery = -5 }, "--commit-every -5", "--commit-every 1"},
		"table":            {func(p *Params) { p.Table = "share" }, `--table "share"`, `"shared"`},
		"key":              {func(p *Params) { p.Key = "randm" }, `--key "randm"`, `"random"`},
		"empty":            {func(p *Params) { *p = Params{} }, "--connections 0", "--connections 1"},
	} {
		p := standard
		c.change(&p)
		_, err := NewInserts(p, 1)
		if err == nil || !strings.Contains(err.Error(), c.says) || filewise.CodeOf(err) != filewise.CodeUsage ||
			!strings.Contains(filewise.RemedyOf(err), c.remedy) {
			t.Errorf("%s: %v (%s)", name, err, filewise.RemedyOf(err))
		}
	}
}

func TestScenarios(t *testing.T) {
	for _, s := range Scenarios() {
		found, err := Lookup(s.Name)
		if err != nil || found.Title != s.Title {
			t.Errorf("Lookup(%q): %v", s.Name, err)
		}
		if _, err := s.New(usable(s), 1); err != nil {
			t.Errorf("%s: default parameters: %v", s.Name, err)
		}
		for _, f := range s.Published {
			if f.Percent != nil && (*f.Percent > 0) != (f.Sign > 0) {
				t.Errorf("%s: %q: sign %d with %v %%", s.Name, f.Words, f.Sign, *f.Percent)
			}
		}
	}
	_, err := Lookup("insert")
	if filewise.CodeOf(err) != filewise.CodeUsage || !strings.Contains(filewise.RemedyOf(err), `"inserts"`) {
		t.Errorf("Lookup of a mistyped name: %v (%s)", err, filewise.RemedyOf(err))
	}
}

func BenchmarkSum(b *testing.B) {
	p := standard
	p.Connections, p.RowBytes = 16, 200
	g := newRows(p, 1)
	l := make(filewise.Ledger, 16)
	for w := range l {
		l[w] = 300_000 / 16
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := g.sum(context.Background(), l, false); err != nil {
			b.Fatal(err)
		}
	}
}

// Several readers execute a query at once, once each if it is to be cold; backups and restores follow --cache.
func TestReadersAndCaches(t *testing.T) {
	for cache, ops := range map[string]int64{CacheWarm: 4 * 3, string(filewise.CacheStorageCold): 4} {
		p := Params{Connections: 4, Rows: 1000, Cache: cache, Data: DataOrdered, Repeat: 3}
		scan, err := NewScan(p, 1)
		if err != nil {
			t.Fatal(err)
		}
		if x := scan.Program().Phases[3]; x.Connections != 4 || x.Ops != ops {
			t.Errorf("scan, %s: %d connections, %d operations", cache, x.Connections, x.Ops)
		}
		backup, err := NewBackup(p, 1)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range backup.Program().Phases {
			if (x.Cache == filewise.CacheStorageCold) != (cache != CacheWarm) {
				t.Errorf("%s, %s: cache %q", x.Operation, cache, x.Cache)
			}
		}
	}
}
