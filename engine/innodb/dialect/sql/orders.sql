-- Workload orders on MariaDB and MySQL. Each transaction is one CALL: its procedure
-- begins it, commits it or rolls it back, and answers with one row, which is sent
-- before the commit, so that the server's last word is whether it is committed.
-- Texts are of one-byte letters, and so are the parameters that they are compared
-- with: of another character set, an index would not be used. Db is the database's name,
-- quoted, and a dot. Partitions are by the hash of the warehouse, of items by
-- their number.

-- name: tables
{{range $i, $t := orders}}
CREATE TABLE {{$.Db}}fw_{{.Name}} (
{{.Columns}}{{if .Key}},
  PRIMARY KEY ({{.Key}}){{end}}
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC CHARACTER SET latin1 COLLATE latin1_bin{{(index $.Tables $i).Options}};
{{end}}
-- The batches that are loaded.
CREATE TABLE {{.Db}}fw_loaded (
  table_name VARCHAR(64) NOT NULL,
  batch      BIGINT NOT NULL,
  PRIMARY KEY (table_name, batch)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC CHARACTER SET latin1 COLLATE latin1_bin;

-- Of one table, after the load, from sorted keys.
-- name: indexes
{{if eq .TableName "fw_customer"}}ALTER TABLE {{.Db}}fw_customer ADD INDEX fw_name (c_w_id, c_d_id, c_last, c_first);{{end}}
{{if eq .TableName "fw_orders"}}ALTER TABLE {{.Db}}fw_orders ADD UNIQUE INDEX fw_last (o_w_id, o_d_id, o_c_id, o_id);{{end}}

-- Clause 2.4.2. The district comes first: its lock puts the orders of a district in a
-- row, before anything is read that others may change.
-- name: procedure-new-order whole
CREATE PROCEDURE {{.Db}}fw_new_order(IN w INT, IN d INT, IN c INT, IN at INT,
  IN items VARCHAR(255) CHARACTER SET latin1, IN supplies VARCHAR(255) CHARACTER SET latin1, IN quantities VARCHAR(255) CHARACTER SET latin1)
  MODIFIES SQL DATA
  SQL SECURITY INVOKER
BEGIN
  DECLARE o, n, line, i, supply, quantity, price, amount, tax, discount, stocked INT;
  DECLARE home TINYINT DEFAULT 1;
  DECLARE total BIGINT DEFAULT 0;
  DECLARE last_name, credit, info, data VARCHAR(50) CHARACTER SET latin1 COLLATE latin1_bin;
  DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN ROLLBACK; RESIGNAL; END;
  SET n = LENGTH(items) - LENGTH(REPLACE(items, ',', '')) + 1, line = 1;
  WHILE line <= n AND home = 1 DO
    SET home = SUBSTRING_INDEX(SUBSTRING_INDEX(supplies, ',', line), ',', -1) = w, line = line + 1;
  END WHILE;
  START TRANSACTION;
  SELECT d_next_o_id, d_tax INTO o, tax FROM fw_district WHERE d_w_id = w AND d_id = d FOR UPDATE;
  UPDATE fw_district SET d_next_o_id = o + 1 WHERE d_w_id = w AND d_id = d;
  SELECT c_discount, c_last, c_credit INTO discount, last_name, credit FROM fw_customer WHERE c_w_id = w AND c_d_id = d AND c_id = c;
  SELECT tax + w_tax INTO tax FROM fw_warehouse WHERE w_id = w;
  INSERT INTO fw_orders (o_w_id, o_d_id, o_id, o_c_id, o_entry_d, o_carrier_id, o_ol_cnt, o_all_local) VALUES (w, d, o, c, at, NULL, n, home);
  INSERT INTO fw_new_order (no_w_id, no_d_id, no_o_id) VALUES (w, d, o);
  SET line = 1;
  WHILE line <= n DO
    SET i = SUBSTRING_INDEX(SUBSTRING_INDEX(items, ',', line), ',', -1),
      supply = SUBSTRING_INDEX(SUBSTRING_INDEX(supplies, ',', line), ',', -1),
      quantity = SUBSTRING_INDEX(SUBSTRING_INDEX(quantities, ',', line), ',', -1), price = NULL;
    SELECT i_price, i_data INTO price, data FROM fw_item WHERE i_id = i;
    IF price IS NULL THEN
      SET o = -1, total = 0, line = n;
    ELSE
      SELECT s_quantity, CASE d WHEN 1 THEN s_dist_01 WHEN 2 THEN s_dist_02 WHEN 3 THEN s_dist_03 WHEN 4 THEN s_dist_04 WHEN 5 THEN s_dist_05
        WHEN 6 THEN s_dist_06 WHEN 7 THEN s_dist_07 WHEN 8 THEN s_dist_08 WHEN 9 THEN s_dist_09 ELSE s_dist_10 END, s_data
        INTO stocked, info, data FROM fw_stock WHERE s_w_id = supply AND s_i_id = i FOR UPDATE;
      UPDATE fw_stock SET s_quantity = stocked - quantity + IF(stocked >= quantity + 10, 0, 91), s_ytd = s_ytd + quantity,
        s_order_cnt = s_order_cnt + 1, s_remote_cnt = s_remote_cnt + (supply <> w) WHERE s_w_id = supply AND s_i_id = i;
      SET amount = price * quantity, total = total + amount;
      INSERT INTO fw_order_line (ol_w_id, ol_d_id, ol_o_id, ol_number, ol_i_id, ol_supply_w_id, ol_delivery_d, ol_quantity, ol_amount, ol_dist_info)
        VALUES (w, d, o, line, i, supply, NULL, quantity, amount, info);
    END IF;
    SET line = line + 1;
  END WHILE;
  SELECT o, total * (10000 - discount) * (10000 + tax) DIV 100000000;
  IF o < 0 THEN
    ROLLBACK;
  ELSE
    COMMIT;
  END IF;
END

-- Clause 2.5.2. Of customers of one name the one in the middle by first name, rounded
-- up.
-- name: procedure-payment whole
CREATE PROCEDURE {{.Db}}fw_payment(IN w INT, IN d INT, IN cw INT, IN cd INT, IN c INT,
  IN last_name VARCHAR(16) CHARACTER SET latin1 COLLATE latin1_bin, IN amount INT, IN at INT)
  MODIFIES SQL DATA
  SQL SECURITY INVOKER
BEGIN
  DECLARE n INT;
  DECLARE warehouse, district VARCHAR(10) CHARACTER SET latin1 COLLATE latin1_bin;
  DECLARE credit CHAR(2) CHARACTER SET latin1 COLLATE latin1_bin;
  DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN ROLLBACK; RESIGNAL; END;
  START TRANSACTION;
  UPDATE fw_warehouse SET w_ytd = w_ytd + amount WHERE w_id = w;
  SELECT w_name INTO warehouse FROM fw_warehouse WHERE w_id = w;
  UPDATE fw_district SET d_ytd = d_ytd + amount WHERE d_w_id = w AND d_id = d;
  SELECT d_name INTO district FROM fw_district WHERE d_w_id = w AND d_id = d;
  IF c = 0 THEN
    SELECT (COUNT(*) - 1) DIV 2 INTO n FROM fw_customer WHERE c_w_id = cw AND c_d_id = cd AND c_last = last_name;
    SELECT c_id INTO c FROM fw_customer WHERE c_w_id = cw AND c_d_id = cd AND c_last = last_name ORDER BY c_first, c_id LIMIT n, 1;
  END IF;
  UPDATE fw_customer SET c_balance = c_balance - amount, c_ytd_payment = c_ytd_payment + amount, c_payment_cnt = c_payment_cnt + 1,
    c_data = IF(c_credit = 'BC', LEFT(CONCAT_WS(' ', c, cd, cw, d, w, amount, c_data), 500), c_data)
    WHERE c_w_id = cw AND c_d_id = cd AND c_id = c;
  SELECT c_credit INTO credit FROM fw_customer WHERE c_w_id = cw AND c_d_id = cd AND c_id = c;
  INSERT INTO fw_history (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount, h_data)
    VALUES (c, cd, cw, d, w, at, amount, CONCAT(warehouse, '    ', district));
  SELECT c;
  COMMIT;
END

-- Clause 2.6.2.
-- name: procedure-order-status whole
CREATE PROCEDURE {{.Db}}fw_order_status(IN w INT, IN d INT, IN c INT, IN last_name VARCHAR(16) CHARACTER SET latin1 COLLATE latin1_bin)
  READS SQL DATA
  SQL SECURITY INVOKER
BEGIN
  DECLARE n, carrier, entered, delivered INT;
  DECLARE o INT DEFAULT 0;
  DECLARE balance, amount BIGINT;
  DECLARE first_name, middle VARCHAR(16) CHARACTER SET latin1 COLLATE latin1_bin;
  DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN ROLLBACK; RESIGNAL; END;
  START TRANSACTION READ ONLY;
  IF c = 0 THEN
    SELECT (COUNT(*) - 1) DIV 2 INTO n FROM fw_customer WHERE c_w_id = w AND c_d_id = d AND c_last = last_name;
    SELECT c_id INTO c FROM fw_customer WHERE c_w_id = w AND c_d_id = d AND c_last = last_name ORDER BY c_first, c_id LIMIT n, 1;
  END IF;
  SELECT c_balance, c_first, c_middle INTO balance, first_name, middle FROM fw_customer WHERE c_w_id = w AND c_d_id = d AND c_id = c;
  SELECT o_id, o_entry_d, o_carrier_id INTO o, entered, carrier FROM fw_orders
    WHERE o_w_id = w AND o_d_id = d AND o_c_id = c ORDER BY o_id DESC LIMIT 1;
  SELECT COUNT(*), SUM(ol_amount), MAX(ol_delivery_d) INTO n, amount, delivered FROM fw_order_line WHERE ol_w_id = w AND ol_d_id = d AND ol_o_id = o;
  SELECT balance, o, n;
  COMMIT;
END

-- Clause 2.7.4.
-- name: procedure-delivery whole
CREATE PROCEDURE {{.Db}}fw_delivery(IN w INT, IN carrier INT, IN at INT)
  MODIFIES SQL DATA
  SQL SECURITY INVOKER
BEGIN
  DECLARE o, c INT;
  DECLARE d INT DEFAULT 1;
  DECLARE delivered INT DEFAULT 0;
  DECLARE amount BIGINT;
  DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN ROLLBACK; RESIGNAL; END;
  START TRANSACTION;
  WHILE d <= {{.Districts}} DO
    SET o = NULL;
    SELECT no_o_id INTO o FROM fw_new_order WHERE no_w_id = w AND no_d_id = d ORDER BY no_o_id LIMIT 1 FOR UPDATE;
    IF o IS NOT NULL THEN
      DELETE FROM fw_new_order WHERE no_w_id = w AND no_d_id = d AND no_o_id = o;
      SELECT o_c_id INTO c FROM fw_orders WHERE o_w_id = w AND o_d_id = d AND o_id = o FOR UPDATE;
      UPDATE fw_orders SET o_carrier_id = carrier WHERE o_w_id = w AND o_d_id = d AND o_id = o;
      UPDATE fw_order_line SET ol_delivery_d = at WHERE ol_w_id = w AND ol_d_id = d AND ol_o_id = o;
      SELECT SUM(ol_amount) INTO amount FROM fw_order_line WHERE ol_w_id = w AND ol_d_id = d AND ol_o_id = o FOR UPDATE;
      UPDATE fw_customer SET c_balance = c_balance + amount, c_delivery_cnt = c_delivery_cnt + 1 WHERE c_w_id = w AND c_d_id = d AND c_id = c;
      SET delivered = delivered + 1;
    END IF;
    SET d = d + 1;
  END WHILE;
  SELECT delivered;
  COMMIT;
END

-- Clause 2.8.2.
-- name: procedure-stock-level whole
CREATE PROCEDURE {{.Db}}fw_stock_level(IN w INT, IN d INT, IN threshold INT)
  READS SQL DATA
  SQL SECURITY INVOKER
BEGIN
  DECLARE upto, n INT;
  DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN ROLLBACK; RESIGNAL; END;
  START TRANSACTION READ ONLY;
  SELECT d_next_o_id INTO upto FROM fw_district WHERE d_w_id = w AND d_id = d;
  SELECT COUNT(DISTINCT s_i_id) INTO n FROM fw_order_line STRAIGHT_JOIN fw_stock ON s_w_id = w AND s_i_id = ol_i_id
    WHERE ol_w_id = w AND ol_d_id = d AND ol_o_id >= upto - 20 AND ol_o_id < upto AND s_quantity < threshold;
  SELECT n;
  COMMIT;
END

-- MariaDB 11.6 ends transactions that meet what others have changed since they began
-- to read; MySQL and older releases let them go on. The comment is a statement there.
-- name: connection
SET autocommit = 1 /*M!110602 , innodb_snapshot_isolation = 0 */;

-- name: statement-new-order
CALL fw_new_order(?1, ?2, ?3, ?4, ?5, ?6, ?7);

-- name: statement-payment
CALL fw_payment(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8);

-- name: statement-order-status
CALL fw_order_status(?1, ?2, ?3, ?4);

-- name: statement-delivery
CALL fw_delivery(?1, ?2, ?3);

-- name: statement-stock-level
CALL fw_stock_level(?1, ?2, ?3);

-- Each statement is a transaction. Number is unique; CHAR has no more than 255
-- letters here.
-- name: churn
CREATE TABLE fw_churn_{{.Number}} (content VARCHAR(1000) NOT NULL) ENGINE = InnoDB ROW_FORMAT = DYNAMIC CHARACTER SET latin1 COLLATE latin1_bin{{.Directory}};
INSERT INTO fw_churn_{{.Number}} (content) VALUES (REPEAT('x', 1000));
DROP TABLE fw_churn_{{.Number}};
