-- Workload inserts on Oracle. The server itself generates the rows, by the formula
-- in package workload: q = i × connections + worker numbers the row, x and y follow
-- from it. Products stay below 2^62, which NUMBER (38 digits) holds exactly and
-- PLS_INTEGER does not. {{ident}} quotes a name.

-- name: tables
{{range .Tables}}
CREATE TABLE {{ident .Name}} (
  id NUMBER(19) NOT NULL,
  payload VARCHAR2({{$.RowBytes}} BYTE) NOT NULL,
  CONSTRAINT {{ident .Key}} PRIMARY KEY (id) USING INDEX TABLESPACE {{ident $.IndexTablespace}}
) SEGMENT CREATION IMMEDIATE TABLESPACE {{ident $.Tablespace}};
{{end}}

-- name: package whole
-- The text that payloads are cut from is longer than a VARCHAR2 can be, so it lies
-- in pieces that overlap by the length of a payload.
CREATE PACKAGE {{ident .Package}} AS
  FUNCTION cut(place IN NUMBER) RETURN VARCHAR2;
END;

-- name: package-body whole
CREATE PACKAGE BODY {{ident .Package}} AS
{{- range $i, $piece := .Pieces}}
  pool{{$i}} CONSTANT VARCHAR2(32767) := {{$piece}};
{{- end}}

  FUNCTION cut(place IN NUMBER) RETURN VARCHAR2 AS
  BEGIN
{{- range $i, $piece := .Pieces}}{{if $i}}
    IF place >= {{$.PieceSpan}} * {{$i}} AND place < {{$.PieceSpan}} * ({{$i}} + 1) THEN
      RETURN SUBSTR(pool{{$i}}, place - {{$.PieceSpan}} * {{$i}} + 1, {{$.RowBytes}});
    END IF;
{{- end}}{{end}}
    RETURN SUBSTR(pool0, place + 1, {{.RowBytes}});
  END;
END;

-- name: procedure-insert whole
-- One call inserts rows p_first … p_first+p_amount−1 of a worker. A transaction has
-- CommitEvery rows. A plain COMMIT within PL/SQL does not wait for the log; the
-- call waits once, at its end. So what the commit waits for is said.
CREATE PROCEDURE {{ident .Procedure}} (p_worker IN NUMBER, p_first IN NUMBER, p_amount IN NUMBER) AS
  i NUMBER(20) := p_first;
  x NUMBER(20);
  y NUMBER(20);
{{- if gt .CommitEvery 1}}
  open_rows NUMBER(20) := 0;
{{- end}}
  v_id NUMBER(20);
  v_payload VARCHAR2({{.RowBytes}});
BEGIN
  WHILE i < p_first + p_amount LOOP
    x := MOD(MOD(i * {{.Connections}} + p_worker, {{.Modulus}}) * {{.A}} + {{.B}}, {{.Modulus}});
    y := MOD(x * x, {{.Modulus}});
{{- if eq .Key "random"}}
    v_id := MOD(MOD(y * y, {{.Modulus}}) * x, {{.Modulus}}) + 1;
{{- else}}
    v_id := i * {{.Connections}} + p_worker + 1;
{{- end}}
    v_payload := {{ident .Package}}.cut(MOD(y, {{.PoolSpan}}));
    INSERT INTO {{ident .TableName}} (id, payload) VALUES (v_id, v_payload);
    i := i + 1;
{{- if gt .CommitEvery 1}}
    open_rows := open_rows + 1;
    IF open_rows = {{.CommitEvery}} THEN
      {{.Commit}};
      open_rows := 0;
    END IF;
{{- else}}
    {{.Commit}};
{{- end}}
  END LOOP;
{{- if gt .CommitEvery 1}}
  {{.Commit}};
{{- end}}
END;

-- name: call-insert whole
BEGIN
  {{ident .Procedure}}(:1, :2, :3);
END;

-- name: committed-insert
-- Whether the row of a key is committed, for calls that were interrupted.
SELECT COUNT(*) FROM {{ident .TableName}} WHERE id = :1;

-- name: check
-- Rows, and the sum over them of the first 32 bits of the MD5 of "id,payload": Oracle has
-- no CRC-32, and one in PL/SQL takes about a millisecond for a row.
{{range .Tables}}
SELECT TO_CHAR(COUNT(*)), 'md5:' || TO_CHAR(SUM(TO_NUMBER(SUBSTR(RAWTOHEX(STANDARD_HASH(id || ',' || payload, 'MD5')), 1, 8), 'XXXXXXXX')))
FROM {{ident .Name}};
{{end}}
