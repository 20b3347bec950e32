package dialect

import (
	"errors"
	"maps"
	"strconv"
	"strings"
	"sync/atomic"

	"filewise"
)

// churned numbers the tables that are created and dropped, over all builds of this process.
var churned atomic.Int64

// churnNumber stands for a table's number in the statements.
const churnNumber = "NUMBER"

// churn creates, fills and drops tables.
type churn struct {
	statements [][]string // by spot
	drop       string
}

// newChurn is nil where the program has no tables that are created and dropped.
func (s Schema) newChurn() (*churn, error) {
	if !s.Program.Churns() {
		return nil, nil
	}
	var c churn
	for _, spot := range append([]string{s.firstSpot()}, s.Spots[min(1, len(s.Spots)):]...) {
		all, err := s.churnStatements(churnNumber, spot)
		if err != nil {
			return nil, err
		}
		if len(all) == 0 {
			return nil, filewise.Errorf(filewise.CodeInternal, "", "section %s has no statement", SectionChurn)
		}
		c.statements = append(c.statements, all)
		c.drop = strings.Replace(all[len(all)-1], "DROP TABLE ", "DROP TABLE IF EXISTS ", 1)
	}
	return &c, nil
}

// firstSpot is the place of the first table that comes and goes.
func (s Schema) firstSpot() string {
	if len(s.Spots) == 0 {
		return ""
	}
	return s.Spots[0]
}

// churnStatements render section churn for a table's number and place.
func (s Schema) churnStatements(number, spot string) ([]string, error) {
	vars := map[string]any{"Number": number, "Directory": spot}
	maps.Copy(vars, s.Program.Vars())
	all, err := sections[s.Program.SQL()].Statements(SectionChurn, vars)
	if err != nil {
		return nil, filewise.Errorf(filewise.CodeInternal, "", "%w", err)
	}
	return s.signed(all), nil
}

// createAndDropTable creates a table of a number of its own, fills and drops it. One that
// cannot be filled is dropped all the same.
func (c *churn) createAndDropTable(to executor) error {
	n := churned.Add(1)
	number := strconv.FormatInt(n, 10)
	for i, statement := range c.statements[n%int64(len(c.statements))] {
		_, err := to.Exec(strings.ReplaceAll(statement, churnNumber, number), nil)
		if err == nil {
			continue
		}
		if _, answered := Number(err); i > 0 && answered {
			_, end := to.Exec(strings.ReplaceAll(c.drop, churnNumber, number), nil)
			err = errors.Join(err, end)
		}
		return err
	}
	return nil
}
