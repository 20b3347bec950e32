package verdict

import (
	"encoding/json"
	"testing"

	"filewise/lab/verdict/internal/vectorstest"
)

// vectorTests has one test per group of testdata/stat-vectors.json that is about the
// method; those about classical statistics are in package stats, one is in package boundary.
var vectorTests = map[string]func(*testing.T, json.RawMessage){
	"robust_two_way":        testRobustTwoWay,
	"boundaries":            testBoundaries,
	"sequential_traces":     testSequentialTraces,
	"alpha_spending":        testAlphaSpending,
	"incomplete_two_way_ls": testIncomplete,
}

const (
	vectorsFile    = "testdata/stat-vectors.json"
	classicVectors = 24 // groups that packages stats and boundary test alone
)

var decode, relative, nearAll = vectorstest.Decode, vectorstest.Relative, vectorstest.NearAll

func readVectors(t *testing.T) map[string]json.RawMessage { return vectorstest.Read(t, vectorsFile) }

func TestVectors(t *testing.T) { vectorstest.Run(t, vectorsFile, classicVectors, vectorTests) }

const tight = 1e-9

// must unwraps a result whose error would be a failure of the test.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
