-- Workload orders on Oracle: five transactions derived from the TPC-C specification,
-- each one call of a procedure that is one transaction. Amounts are whole cents.
-- Names of objects begin with the build's: .T has those of tables, .X of indexes, .P of
-- procedures. NO_DATA_FOUND is raised anew as an error of Filewise's: the server says it as
-- it says the end of a query, and the driver takes it for no more than that.

-- name: tables
{{- range orders}}
CREATE TABLE {{ident (index $.T .Name)}} (
{{.Columns}}
) SEGMENT CREATION IMMEDIATE TABLESPACE {{ident $.Tablespace}};
{{- end}}

-- name: indexes
{{- range orders}}{{if .Key}}
ALTER TABLE {{ident (index $.T .Name)}} ADD CONSTRAINT {{ident (index $.X .Name)}} PRIMARY KEY ({{.Key}}) USING INDEX TABLESPACE {{ident $.IndexTablespace}};
{{- end}}{{end}}
CREATE INDEX {{ident .X.customer_name}} ON {{ident .T.customer}} (c_w_id, c_d_id, c_last, c_first) TABLESPACE {{ident .IndexTablespace}};
CREATE UNIQUE INDEX {{ident .X.orders_customer}} ON {{ident .T.orders}} (o_w_id, o_d_id, o_c_id, o_id) TABLESPACE {{ident .IndexTablespace}};

-- name: procedure-new-order whole
-- Clause 2.4.2. Lines come as lists, which are taken apart item by item. The order
-- itself is written after its lines, when their number is known.
CREATE PROCEDURE {{ident (index .P "new-order")}} (p_w IN NUMBER, p_d IN NUMBER, p_c IN NUMBER, p_at IN NUMBER,
  p_items IN VARCHAR2, p_supplies IN VARCHAR2, p_quantities IN VARCHAR2, p_number OUT NUMBER, p_total OUT NUMBER) AS
  v_items VARCHAR2(400) := p_items || ',';
  v_supplies VARCHAR2(400) := p_supplies || ',';
  v_quantities VARCHAR2(400) := p_quantities || ',';
  v_discount NUMBER(10);
  v_last VARCHAR2(16);
  v_credit VARCHAR2(2);
  v_w_tax NUMBER(10);
  v_d_tax NUMBER(10);
  v_o NUMBER(10);
  v_n NUMBER(10) := 0;
  v_local NUMBER(10) := 1;
  v_remote NUMBER(10);
  v_total NUMBER(18) := 0;
  v_cut NUMBER(10);
  v_item NUMBER(10);
  v_supply NUMBER(10);
  v_quantity NUMBER(10);
  v_stock NUMBER(10);
  v_price NUMBER(10);
  v_name VARCHAR2(24);
  v_data VARCHAR2(50);
  v_dist VARCHAR2(24);
BEGIN
  SELECT c_discount, c_last, c_credit INTO v_discount, v_last, v_credit FROM {{ident .T.customer}} WHERE c_w_id = p_w AND c_d_id = p_d AND c_id = p_c;
  SELECT w_tax INTO v_w_tax FROM {{ident .T.warehouse}} WHERE w_id = p_w;
  SELECT d_next_o_id, d_tax INTO v_o, v_d_tax FROM {{ident .T.district}} WHERE d_w_id = p_w AND d_id = p_d FOR UPDATE;
  UPDATE {{ident .T.district}} SET d_next_o_id = d_next_o_id + 1 WHERE d_w_id = p_w AND d_id = p_d;
  WHILE INSTR(v_items, ',') > 0 LOOP
    v_cut := INSTR(v_items, ',');
    v_item := SUBSTR(v_items, 1, v_cut - 1);
    v_items := SUBSTR(v_items, v_cut + 1);
    v_cut := INSTR(v_supplies, ',');
    v_supply := SUBSTR(v_supplies, 1, v_cut - 1);
    v_supplies := SUBSTR(v_supplies, v_cut + 1);
    v_cut := INSTR(v_quantities, ',');
    v_quantity := SUBSTR(v_quantities, 1, v_cut - 1);
    v_quantities := SUBSTR(v_quantities, v_cut + 1);
    v_n := v_n + 1;
    v_remote := 0;
    IF v_supply <> p_w THEN
      v_local := 0;
      v_remote := 1;
    END IF;
    BEGIN
      SELECT i_price, i_name, i_data INTO v_price, v_name, v_data FROM {{ident .T.item}} WHERE i_id = v_item;
    EXCEPTION
      WHEN NO_DATA_FOUND THEN
        ROLLBACK;
        p_number := -1;
        p_total := 0;
        RETURN;
    END;
    SELECT s_quantity, CASE p_d WHEN 1 THEN s_dist_01 WHEN 2 THEN s_dist_02 WHEN 3 THEN s_dist_03 WHEN 4 THEN s_dist_04 WHEN 5 THEN s_dist_05
      WHEN 6 THEN s_dist_06 WHEN 7 THEN s_dist_07 WHEN 8 THEN s_dist_08 WHEN 9 THEN s_dist_09 ELSE s_dist_10 END
      INTO v_stock, v_dist FROM {{ident .T.stock}} WHERE s_w_id = v_supply AND s_i_id = v_item FOR UPDATE;
    v_stock := v_stock - v_quantity;
    IF v_stock < 10 THEN
      v_stock := v_stock + 91;
    END IF;
    UPDATE {{ident .T.stock}} SET s_quantity = v_stock, s_ytd = s_ytd + v_quantity, s_order_cnt = s_order_cnt + 1, s_remote_cnt = s_remote_cnt + v_remote
    WHERE s_w_id = v_supply AND s_i_id = v_item;
    v_total := v_total + v_price * v_quantity;
    INSERT INTO {{ident .T.order_line}} (ol_w_id, ol_d_id, ol_o_id, ol_number, ol_i_id, ol_supply_w_id, ol_delivery_d, ol_quantity, ol_amount, ol_dist_info)
    VALUES (p_w, p_d, v_o, v_n, v_item, v_supply, NULL, v_quantity, v_price * v_quantity, v_dist);
  END LOOP;
  INSERT INTO {{ident .T.orders}} (o_w_id, o_d_id, o_id, o_c_id, o_entry_d, o_carrier_id, o_ol_cnt, o_all_local)
  VALUES (p_w, p_d, v_o, p_c, p_at, NULL, v_n, v_local);
  INSERT INTO {{ident .T.new_order}} (no_w_id, no_d_id, no_o_id) VALUES (p_w, p_d, v_o);
  {{.Commit}};
  p_number := v_o;
  p_total := FLOOR(FLOOR(v_total * (10000 - v_discount) / 10000) * (10000 + v_w_tax + v_d_tax) / 10000);
EXCEPTION
  WHEN NO_DATA_FOUND THEN
    RAISE_APPLICATION_ERROR(-20010, 'there is no such customer, warehouse, district or stock');
END;

-- name: procedure-payment whole
-- Clause 2.5.2. Of the customers of a name it is the one in the middle, by first
-- name, rounded up.
CREATE PROCEDURE {{ident .P.payment}} (p_w IN NUMBER, p_d IN NUMBER, p_c_w IN NUMBER, p_c_d IN NUMBER, p_c IN NUMBER,
  p_last IN VARCHAR2, p_amount IN NUMBER, p_at IN NUMBER, p_customer OUT NUMBER) AS
  v_c NUMBER(10) := p_c;
  v_w_name VARCHAR2(10);
  v_d_name VARCHAR2(10);
  v_credit VARCHAR2(2);
  v_data VARCHAR2(1000);
BEGIN
  SELECT w_name INTO v_w_name FROM {{ident .T.warehouse}} WHERE w_id = p_w FOR UPDATE;
  UPDATE {{ident .T.warehouse}} SET w_ytd = w_ytd + p_amount WHERE w_id = p_w;
  SELECT d_name INTO v_d_name FROM {{ident .T.district}} WHERE d_w_id = p_w AND d_id = p_d FOR UPDATE;
  UPDATE {{ident .T.district}} SET d_ytd = d_ytd + p_amount WHERE d_w_id = p_w AND d_id = p_d;
  IF v_c = 0 THEN
    SELECT c_id INTO v_c FROM (
      SELECT c_id, ROW_NUMBER() OVER (ORDER BY c_first, c_id) AS place, COUNT(*) OVER () AS n
      FROM {{ident .T.customer}} WHERE c_w_id = p_c_w AND c_d_id = p_c_d AND c_last = p_last) x
    WHERE place = FLOOR((n + 1) / 2);
  END IF;
  SELECT c_credit, c_data INTO v_credit, v_data FROM {{ident .T.customer}} WHERE c_w_id = p_c_w AND c_d_id = p_c_d AND c_id = v_c FOR UPDATE;
  IF v_credit = 'BC' THEN
    v_data := SUBSTR(v_c || ' ' || p_c_d || ' ' || p_c_w || ' ' || p_d || ' ' || p_w || ' ' || p_amount || ' ' || v_data, 1, 500);
  END IF;
  UPDATE {{ident .T.customer}} SET c_balance = c_balance - p_amount, c_ytd_payment = c_ytd_payment + p_amount,
    c_payment_cnt = c_payment_cnt + 1, c_data = v_data
  WHERE c_w_id = p_c_w AND c_d_id = p_c_d AND c_id = v_c;
  INSERT INTO {{ident .T.history}} (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount, h_data)
  VALUES (v_c, p_c_d, p_c_w, p_d, p_w, p_at, p_amount, v_w_name || '    ' || v_d_name);
  {{.Commit}};
  p_customer := v_c;
EXCEPTION
  WHEN NO_DATA_FOUND THEN
    RAISE_APPLICATION_ERROR(-20010, 'there is no such customer, warehouse or district');
END;

-- name: procedure-order-status whole
-- Clause 2.6.2. It reads only.
CREATE PROCEDURE {{ident (index .P "order-status")}} (p_w IN NUMBER, p_d IN NUMBER, p_c IN NUMBER, p_last IN VARCHAR2,
  p_balance OUT NUMBER, p_number OUT NUMBER, p_lines OUT NUMBER) AS
  v_c NUMBER(10) := p_c;
  v_first VARCHAR2(16);
  v_balance NUMBER(18);
  v_o NUMBER(10);
  v_entered NUMBER(10);
  v_carrier NUMBER(10);
  v_lines NUMBER(10) := 0;
BEGIN
  IF v_c = 0 THEN
    SELECT c_id INTO v_c FROM (
      SELECT c_id, ROW_NUMBER() OVER (ORDER BY c_first, c_id) AS place, COUNT(*) OVER () AS n
      FROM {{ident .T.customer}} WHERE c_w_id = p_w AND c_d_id = p_d AND c_last = p_last) x
    WHERE place = FLOOR((n + 1) / 2);
  END IF;
  SELECT c_balance, c_first INTO v_balance, v_first FROM {{ident .T.customer}} WHERE c_w_id = p_w AND c_d_id = p_d AND c_id = v_c;
  SELECT MAX(o_id) INTO v_o FROM {{ident .T.orders}} WHERE o_w_id = p_w AND o_d_id = p_d AND o_c_id = v_c;
  IF v_o IS NOT NULL THEN
    SELECT o_entry_d, o_carrier_id INTO v_entered, v_carrier FROM {{ident .T.orders}} WHERE o_w_id = p_w AND o_d_id = p_d AND o_id = v_o;
    SELECT COUNT(ol_i_id + ol_supply_w_id + ol_quantity + ol_amount + COALESCE(ol_delivery_d, 0)) INTO v_lines
    FROM {{ident .T.order_line}} WHERE ol_w_id = p_w AND ol_d_id = p_d AND ol_o_id = v_o;
  END IF;
  p_balance := v_balance;
  p_number := COALESCE(v_o, 0);
  p_lines := v_lines;
EXCEPTION
  WHEN NO_DATA_FOUND THEN
    RAISE_APPLICATION_ERROR(-20010, 'there is no such customer');
END;

-- name: procedure-delivery whole
-- Clause 2.7.4, of all districts of the warehouse. Of two deliveries at the same
-- time, the second one waits for the row that both want, finds it gone, and looks
-- for the next order.
CREATE PROCEDURE {{ident .P.delivery}} (p_w IN NUMBER, p_carrier IN NUMBER, p_at IN NUMBER, p_delivered OUT NUMBER) AS
  v_d NUMBER(10) := 1;
  v_o NUMBER(10);
  v_c NUMBER(10);
  v_sum NUMBER(18);
  v_delivered NUMBER(10) := 0;
BEGIN
  WHILE v_d <= {{.Districts}} LOOP
    LOOP
      SELECT MIN(no_o_id) INTO v_o FROM {{ident .T.new_order}} WHERE no_w_id = p_w AND no_d_id = v_d;
      EXIT WHEN v_o IS NULL;
      DELETE FROM {{ident .T.new_order}} WHERE no_w_id = p_w AND no_d_id = v_d AND no_o_id = v_o;
      EXIT WHEN SQL%ROWCOUNT = 1;
    END LOOP;
    IF v_o IS NOT NULL THEN
      SELECT o_c_id INTO v_c FROM {{ident .T.orders}} WHERE o_w_id = p_w AND o_d_id = v_d AND o_id = v_o;
      UPDATE {{ident .T.orders}} SET o_carrier_id = p_carrier WHERE o_w_id = p_w AND o_d_id = v_d AND o_id = v_o;
      UPDATE {{ident .T.order_line}} SET ol_delivery_d = p_at WHERE ol_w_id = p_w AND ol_d_id = v_d AND ol_o_id = v_o;
      SELECT SUM(ol_amount) INTO v_sum FROM {{ident .T.order_line}} WHERE ol_w_id = p_w AND ol_d_id = v_d AND ol_o_id = v_o;
      UPDATE {{ident .T.customer}} SET c_balance = c_balance + v_sum, c_delivery_cnt = c_delivery_cnt + 1
      WHERE c_w_id = p_w AND c_d_id = v_d AND c_id = v_c;
      IF SQL%ROWCOUNT <> 1 THEN
        RAISE_APPLICATION_ERROR(-20010, 'there is no such customer');
      END IF;
      v_delivered := v_delivered + 1;
    END IF;
    v_d := v_d + 1;
  END LOOP;
  {{.Commit}};
  p_delivered := v_delivered;
EXCEPTION
  WHEN NO_DATA_FOUND THEN
    RAISE_APPLICATION_ERROR(-20010, 'there is no such order');
END;

-- name: procedure-stock-level whole
-- Clause 2.8.2.
CREATE PROCEDURE {{ident (index .P "stock-level")}} (p_w IN NUMBER, p_d IN NUMBER, p_threshold IN NUMBER, p_items OUT NUMBER) AS
  v_next NUMBER(10);
  v_items NUMBER(10);
BEGIN
  SELECT d_next_o_id INTO v_next FROM {{ident .T.district}} WHERE d_w_id = p_w AND d_id = p_d;
  SELECT COUNT(DISTINCT s_i_id) INTO v_items FROM {{ident .T.order_line}}
  JOIN {{ident .T.stock}} ON s_w_id = p_w AND s_i_id = ol_i_id AND s_quantity < p_threshold
  WHERE ol_w_id = p_w AND ol_d_id = p_d AND ol_o_id >= v_next - 20 AND ol_o_id < v_next;
  p_items := v_items;
EXCEPTION
  WHEN NO_DATA_FOUND THEN
    RAISE_APPLICATION_ERROR(-20010, 'there is no such district');
END;

-- name: statement-new-order whole
-- What the transaction returns comes back in the last binds.
BEGIN
  {{ident (index .P "new-order")}}(:1, :2, :3, :4, :5, :6, :7, :8, :9);
END;

-- name: statement-payment whole
BEGIN
  {{ident .P.payment}}(:1, :2, :3, :4, :5, :6, :7, :8, :9);
END;

-- name: statement-order-status whole
BEGIN
  {{ident (index .P "order-status")}}(:1, :2, :3, :4, :5, :6, :7);
END;

-- name: statement-delivery whole
BEGIN
  {{ident .P.delivery}}(:1, :2, :3, :4);
END;

-- name: statement-stock-level whole
BEGIN
  {{ident (index .P "stock-level")}}(:1, :2, :3, :4);
END;

-- name: churn
-- A table that is created and dropped before each transaction: DDL commits. It is the
-- connection's own, so that its name is free.
CREATE TABLE {{ident .ChurnTable}} (content CHAR(1000 BYTE) NOT NULL) SEGMENT CREATION IMMEDIATE TABLESPACE {{ident .Tablespace}};
INSERT INTO {{ident .ChurnTable}} (content) VALUES ('x');
DROP TABLE {{ident .ChurnTable}} PURGE;
