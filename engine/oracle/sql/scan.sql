-- Workload scan on Oracle: four tables of the same definition, whose extents lie
-- interleaved as they are loaded in turns. Keys and indexes come after the load.

-- name: tables
{{range .Loaded}}
CREATE TABLE {{ident (index $.T .)}} (
  id NUMBER(10) NOT NULL,
  name VARCHAR2(300 BYTE),
  address VARCHAR2(1000 BYTE),
  state CHAR(2 BYTE),
  val1 NUMBER(10),
  val2 NUMBER(10),
  val3 NUMBER(10),
  val4 NUMBER(10),
  val5 NUMBER(10)
) SEGMENT CREATION IMMEDIATE TABLESPACE {{ident $.Tablespace}};
{{end}}

-- name: indexes
{{range .Loaded}}
ALTER TABLE {{ident (index $.T .)}} ADD CONSTRAINT {{ident (index $.X .)}} PRIMARY KEY (id) USING INDEX TABLESPACE {{ident $.IndexTablespace}};
CREATE INDEX {{ident (index $.X (print . "_name"))}} ON {{ident (index $.T .)}} (name) TABLESPACE {{ident $.IndexTablespace}};
CREATE INDEX {{ident (index $.X (print . "_values"))}} ON {{ident (index $.T .)}} (val1, val2) TABLESPACE {{ident $.IndexTablespace}};
{{end}}

-- name: check
{{range $number, $name := .Loaded}}
SELECT {{$number}} + 1, COUNT(*), TO_CHAR(SUM(id)), TO_CHAR(SUM(val1)) FROM {{ident (index $.T $name)}};
{{end}}

-- name: statement-query-1
-- The key as a text, as published: the server makes it a number.
SELECT * FROM {{ident (index .T (frag .Reader 1))}} WHERE id = '{{.Key1}}';

-- name: statement-query-2
SELECT * FROM {{ident (index .T (frag .Reader 1))}} WHERE val1 < 1000 OFFSET 1 ROWS FETCH NEXT 1 ROWS ONLY;

-- name: statement-query-3
SELECT * FROM {{ident (index .T (frag .Reader 1))}} WHERE id = {{.Key3}};

-- name: statement-query-4
SELECT COUNT(*), SUM(val1), SUM(val2), AVG(val3) FROM {{ident (index .T (frag .Reader 1))}} WHERE val4 < 10000;

-- name: statement-query-5
SELECT SUM(val4 + val5) FROM {{ident (index .T (frag .Reader 2))}};

-- name: statement-query-6
SELECT * FROM {{ident (index .T (frag .Reader 3))}} WHERE val1 = 5718;

-- name: statement-query-7
SELECT * FROM {{ident (index .T (frag .Reader 4))}} WHERE val1 > 5700 AND val2 < 10000 AND val3 = 14242;

-- name: statement-query-8
-- Numbers against a text, as published: the server makes the text a number.
SELECT COUNT(*), SUM(val1), SUM(val2), AVG(val3) FROM {{ident (index .T (frag .Reader 1))}}
WHERE state IN (94, 84, 35, 36, 11, 12, 99, 50) GROUP BY state;

-- name: statement-query-9
SELECT * FROM {{ident (index .T (frag .Reader 1))}} a JOIN {{ident (index .T (frag .Reader 3))}} b ON b.val1 = a.id WHERE b.id = {{.Key9}};

-- name: statement-query-10
SELECT * FROM {{ident (index .T (frag .Reader 2))}} a JOIN {{ident (index .T (frag .Reader 4))}} b ON a.val1 = b.id WHERE b.id = {{.Key10}};

-- name: statement-query-11
SELECT SUM(a.val2) FROM {{ident (index .T (frag .Reader 2))}} a JOIN {{ident (index .T (frag .Reader 4))}} b ON a.val1 = b.id WHERE b.id = {{.Key11}};
