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

-- The text that payloads are cut from is longer than a VARCHAR2 can be, so it lies
-- in pieces that overlap by a payload's length. CRC-32 (IEEE) is not among
-- Oracle's functions.
-- name: package whole
CREATE PACKAGE {{ident .Package}} AS
  FUNCTION cut(place IN NUMBER) RETURN VARCHAR2;
  FUNCTION text_crc(given IN VARCHAR2) RETURN NUMBER;
  FUNCTION payload_crc(given IN VARCHAR2) RETURN NUMBER;
  FUNCTION row_crc(id IN NUMBER, payload IN VARCHAR2) RETURN NUMBER;
END;

-- text_crc keeps the register as four bytes, so that shifting it by one is to move
-- them, and its loop has PLS_INTEGER only; an exclusive or is a + b − 2 × (a and b).
-- row_crc is the CRC of "id,payload". A CRC is linear: that of a text followed by
-- n bytes is the text's, moved on by n bytes, exclusive or that of the n bytes. So
-- the CRC of a payload that was met before need not be computed again, which would
-- be most of the work: up to 32 MiB of them are kept while a session lasts.
-- name: package-body whole
CREATE PACKAGE BODY {{ident .Package}} AS
  TYPE bytes_t IS TABLE OF PLS_INTEGER INDEX BY PLS_INTEGER;
  TYPE words_t IS TABLE OF NUMBER INDEX BY PLS_INTEGER;
  TYPE known_t IS TABLE OF NUMBER INDEX BY VARCHAR2(4000);
  crc0 bytes_t;
  crc1 bytes_t;
  crc2 bytes_t;
  crc3 bytes_t;
  moved words_t;
  moved_bit words_t;
  known known_t;
  c NUMBER(20);
{{- range $i, $piece := .Pieces}}
  pool{{$i}} CONSTANT VARCHAR2(32767) := {{$piece}};
{{- end}}

  FUNCTION either(a IN NUMBER, b IN NUMBER) RETURN NUMBER AS
  BEGIN
    RETURN a + b - 2 * BITAND(a, b);
  END;

  FUNCTION cut(place IN NUMBER) RETURN VARCHAR2 AS
  BEGIN
{{- range $i, $piece := .Pieces}}{{if $i}}
    IF place >= {{$.PieceSpan}} * {{$i}} AND place < {{$.PieceSpan}} * ({{$i}} + 1) THEN
      RETURN SUBSTR(pool{{$i}}, place - {{$.PieceSpan}} * {{$i}} + 1, {{$.RowBytes}});
    END IF;
{{- end}}{{end}}
    RETURN SUBSTR(pool0, place + 1, {{.RowBytes}});
  END;

  FUNCTION text_crc(given IN VARCHAR2) RETURN NUMBER AS
    b0 PLS_INTEGER := 255;
    b1 PLS_INTEGER := 255;
    b2 PLS_INTEGER := 255;
    b3 PLS_INTEGER := 255;
    k PLS_INTEGER;
    crc NUMBER(20);
  BEGIN
    FOR p IN 1 .. NVL(LENGTH(given), 0) LOOP
      k := MOD(ASCII(SUBSTR(given, p, 1)), 256);
      k := b0 + k - 2 * BITAND(b0, k);
      b0 := b1 + crc0(k) - 2 * BITAND(b1, crc0(k));
      b1 := b2 + crc1(k) - 2 * BITAND(b2, crc1(k));
      b2 := b3 + crc2(k) - 2 * BITAND(b3, crc2(k));
      b3 := crc3(k);
    END LOOP;
    crc := 255 - b3;
    crc := crc * 256 + (255 - b2);
    crc := crc * 256 + (255 - b1);
    crc := crc * 256 + (255 - b0);
    RETURN crc;
  END;

  FUNCTION payload_crc(given IN VARCHAR2) RETURN NUMBER AS
    crc NUMBER(20);
  BEGIN
    IF known.EXISTS(given) THEN
      RETURN known(given);
    END IF;
    crc := text_crc(given);
    IF known.COUNT < {{.Kept}} THEN
      known(given) := crc;
    END IF;
    RETURN crc;
  END;

  FUNCTION row_crc(id IN NUMBER, payload IN VARCHAR2) RETURN NUMBER AS
    head NUMBER(20);
    crc NUMBER(20);
  BEGIN
    IF LENGTH(payload) <> {{.RowBytes}} THEN
      RETURN text_crc(id || ',' || payload);
    END IF;
    head := text_crc(id || ',');
    crc := payload_crc(payload);
    FOR n IN 0 .. 3 LOOP
      crc := either(crc, moved(n * 256 + MOD(head, 256)));
      head := (head - MOD(head, 256)) / 256;
    END LOOP;
    RETURN crc;
  END;

-- The tables: of the CRC's register by its lowest byte; and of where each byte of
-- it comes to after {{.RowBytes}} bytes, from where each bit comes to.
BEGIN
  FOR i IN 0 .. 255 LOOP
    c := i;
    FOR j IN 1 .. 8 LOOP
      IF MOD(c, 2) = 1 THEN
        c := either((c - 1) / 2, 3988292384);
      ELSE
        c := c / 2;
      END IF;
    END LOOP;
    crc0(i) := MOD(c, 256);
    crc1(i) := MOD((c - MOD(c, 256)) / 256, 256);
    crc2(i) := MOD((c - MOD(c, 65536)) / 65536, 256);
    crc3(i) := (c - MOD(c, 16777216)) / 16777216;
  END LOOP;
{{- range $i, $to := .MovedBits}}
  moved_bit({{$i}}) := {{$to}};
{{- end}}
  FOR n IN 0 .. 3 LOOP
    moved(n * 256) := 0;
    FOR j IN 0 .. 7 LOOP
      FOR i IN POWER(2, j) .. POWER(2, j + 1) - 1 LOOP
        moved(n * 256 + i) := either(moved(n * 256 + i - POWER(2, j)), moved_bit(n * 8 + j));
      END LOOP;
    END LOOP;
  END LOOP;
END;

-- One call inserts rows p_first … p_first+p_amount−1 of a worker. A transaction has
-- CommitEvery rows. A plain COMMIT within PL/SQL does not wait for the log; the
-- call waits once, at its end. So what the commit waits for is said.
-- name: procedure-insert whole
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

-- Whether the row of a key is committed, for calls that were interrupted.
-- name: committed-insert
SELECT COUNT(*) FROM {{ident .TableName}} WHERE id = :1;

-- Rows, and the sum over them of the CRC-32 (IEEE) of "id,payload".
-- name: check
{{range .Tables}}
SELECT TO_CHAR(COUNT(*)), TO_CHAR(SUM({{ident $.Package}}.row_crc(id, payload))) FROM {{ident .Name}};
{{end}}
