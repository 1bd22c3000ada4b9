PRAGMA application_id = 1148412786;
PRAGMA user_version = 2;
BEGIN TRANSACTION;
CREATE TABLE entries (
    sequence INTEGER PRIMARY KEY,
    kind TEXT NOT NULL,
    payload TEXT NOT NULL,
    previous TEXT NOT NULL,
    digest TEXT NOT NULL
);
INSERT INTO "entries" VALUES(1,'budget','{"cap":{"epsilon":"3","measure":"pure"},"id_space":"people"}','0000000000000000000000000000000000000000000000000000000000000000','24f14fef247da98495cd7129c0fbc6f56e4b71a26c3a7d17b77ee76ccc9ed8d3');
INSERT INTO "entries" VALUES(2,'version','{"id_space":"people","number":1}','24f14fef247da98495cd7129c0fbc6f56e4b71a26c3a7d17b77ee76ccc9ed8d3','367fd19c8b7874e3da8921fb62ecc803baeaed42021531e4b24eae0a747d65f6');
INSERT INTO "entries" VALUES(3,'reserve','{"order":{"analyst":"ann","charges":[{"id_space":"people","loss":{"epsilon":"1/4","measure":"pure"}}],"data_version":1,"description":{"sql":"SELECT COUNT(*) FROM visits"},"plan_digest":"plan"},"order_digest":"f67a1ddfcadf103275cb5f463e46bf5c02c887ce82d81e854dec9224217847de","reserved_at":"2026-11-18T08:55:27+00:00","totals":[{"analyst":{"epsilon":"1/4","measure":"pure"},"counter":null,"everybody":{"epsilon":"1/4","measure":"pure"},"id_space":"people","open":[]}]}','367fd19c8b7874e3da8921fb62ecc803baeaed42021531e4b24eae0a747d65f6','e1f68b0bc4177eaf865149123d7260b37d38dda2b290177d29e077144289045d');
INSERT INTO "entries" VALUES(4,'commit','{"data_version":1,"plan_digest":"plan","release_digest":"79df0d9725cdf8f890aae9cf685ab7304e19ffd30dad2e84c8f0efac9522db55","ticket":3}','e1f68b0bc4177eaf865149123d7260b37d38dda2b290177d29e077144289045d','8b8c2dcb4d013242403d5c6d273e65f46290b51bb7d4b5d8c3632d5c64a600f3');
INSERT INTO "entries" VALUES(5,'exact','{"asserted":{"assurance":"The law is from the report of last year, before the exams.","bins":[],"certificate":{"asserted":{"chosen":"beforehand","known":0,"known_rows":"unrelated to their values","law":{"block":["10","90"],"clamps":["0","100"],"floor":"1/250","law":"grid_floor","step":"1/2"},"rows":4000,"statistic":"sum"},"assumptions":["Each row is drawn independently from a grid of step 1/2 on [0, 100], and takes each value of [10, 90] with a probability of at least 0.004.","Every row lies on [0, 100], or is moved there before it is added.","There are 4000 rows, and everybody may know that number.","The adversary knows at most 0 of the rows, chosen without regard to their values; who knows the largest ones, say, needs another certificate.","The law holds given all that was released of these people before.","Law, clamps and statistic were chosen before anybody looked at the data.","There are at least 4,000 rows with a unit; the release does not say how many there are","An adversary knows at most 0 of the rows, and which ones was not decided by their values"],"simulator":"It adds the other rows and 50 in place of the missing one.","statistic":"The exact sum of 4000 rows on [0, 100]."},"certified":{"delta":"5255328661357/11417981541647679048466287755595961091061972992","epsilon":"0.5"},"composed":{"delta":"5255328661357/11417981541647679048466287755595961091061972992","epsilon":"0.5","rule":"first"},"data_version":1,"discards":null,"features":["sum(score in 0..100 by 0.5)"],"format":"discreet.exact/1","holds_beside_noise":false,"known":0,"law":"floor(0.004, 10, 90)","least":null,"parts":[],"premises":{"beside_noise":[],"given":[],"robust":[]},"rows":4000,"split":null,"statistic":"sum","table":"exams"},"checked":3,"data_version":1,"id_space":"people","name":"total","plan_digest":"exact plan"}','8b8c2dcb4d013242403d5c6d273e65f46290b51bb7d4b5d8c3632d5c64a600f3','c47f1fd4ba2903eabdbe36f72a83fd6efce80d47f8280f26806473551173b190');
INSERT INTO "entries" VALUES(6,'reserve','{"order":{"analyst":"owner","charges":[{"id_space":"people","loss":{"epsilon":"0","measure":"pure"}}],"data_version":1,"description":{"sql":"SELECT COUNT(*) FROM visits"},"exact":"115bac50b85ec7e6ab0d5df4f5f1ffc714b2fa41ea8fc21be34e22b3559a9e2f","plan_digest":"exact plan"},"order_digest":"165349e7499b4eb089c4b7291f406feccf3961d74502c637152657f7ecd96cd4","reserved_at":"2026-11-18T08:55:27+00:00","totals":[{"analyst":{"epsilon":"0","measure":"pure"},"counter":null,"everybody":{"epsilon":"1/4","measure":"pure"},"id_space":"people","open":[]}]}','c47f1fd4ba2903eabdbe36f72a83fd6efce80d47f8280f26806473551173b190','8661a48d94cd83524c311c955463c3cc462065587b74318fffdb64c893a4fa72');
INSERT INTO "entries" VALUES(7,'commit','{"data_version":1,"plan_digest":"exact plan","release_digest":"ce0c9ef4c930cc463e542ce9a2e78b5417944e80f7e40f92b15f5ae108ffd83a","ticket":6}','8661a48d94cd83524c311c955463c3cc462065587b74318fffdb64c893a4fa72','882481a1a9277e22f73da4785eb6fde833da67420eec3af9ee98d1931230db24');
INSERT INTO "entries" VALUES(8,'reserve','{"order":{"analyst":"ann","charges":[{"id_space":"people","loss":{"epsilon":"1/3","measure":"pure"}}],"data_version":1,"description":{"sql":"SELECT COUNT(*) FROM visits"},"plan_digest":"later"},"order_digest":"d26a1b92c73f14658cf165f11d0cd2e97ccf83d9e50bb9d80b4fdc3f71ae361d","reserved_at":"2026-11-18T08:55:27+00:00","totals":[{"analyst":{"epsilon":"7/12","measure":"pure"},"counter":null,"everybody":{"epsilon":"7/12","measure":"pure"},"id_space":"people","open":[]}]}','882481a1a9277e22f73da4785eb6fde833da67420eec3af9ee98d1931230db24','7fe10deee72acf76eb6006a50302792fff8f56efc427310803009680bd796cc6');
INSERT INTO "entries" VALUES(9,'commit','{"data_version":1,"plan_digest":"later","release_digest":"79df0d9725cdf8f890aae9cf685ab7304e19ffd30dad2e84c8f0efac9522db55","ticket":8}','7fe10deee72acf76eb6006a50302792fff8f56efc427310803009680bd796cc6','b7297c9e8af8929d87970090dd95b2d66d7b2bca146ae08ddd24a1fd42894fd7');
CREATE TABLE releases (
    ticket INTEGER PRIMARY KEY,
    body TEXT NOT NULL
);
INSERT INTO "releases" VALUES(3,'{"rows":[["a",3],["b",-1]]}');
INSERT INTO "releases" VALUES(6,'{"bounding":2,"kind":"exact","name":"total","numbers":[{"of":"score","value":"199944"}],"rows":4000,"table":"exams","version":1}');
INSERT INTO "releases" VALUES(8,'{"rows":[["a",3],["b",-1]]}');
CREATE TABLE salts (
    id_space TEXT NOT NULL,
    version INTEGER NOT NULL,
    salt BLOB NOT NULL,
    PRIMARY KEY (id_space, version)
);
INSERT INTO "salts" VALUES('people',1,X'0100000000000000020000000000000003000000000000000400000000000000');
CREATE TABLE subjects (
    kind TEXT NOT NULL,
    subject TEXT NOT NULL,
    sequence INTEGER NOT NULL REFERENCES entries,
    PRIMARY KEY (kind, subject, sequence)
) WITHOUT ROWID;
INSERT INTO "subjects" VALUES('budget','["id_space","people"]',1);
INSERT INTO "subjects" VALUES('commit','["release","exact plan","1"]',7);
INSERT INTO "subjects" VALUES('commit','["release","later","1"]',9);
INSERT INTO "subjects" VALUES('commit','["release","plan","1"]',4);
INSERT INTO "subjects" VALUES('commit','["ticket","3"]',4);
INSERT INTO "subjects" VALUES('commit','["ticket","6"]',7);
INSERT INTO "subjects" VALUES('commit','["ticket","8"]',9);
INSERT INTO "subjects" VALUES('exact','["id_space","people"]',5);
INSERT INTO "subjects" VALUES('reserve','["id_space","people"]',3);
INSERT INTO "subjects" VALUES('reserve','["id_space","people"]',6);
INSERT INTO "subjects" VALUES('reserve','["id_space","people"]',8);
INSERT INTO "subjects" VALUES('reserve','["share","people","ann"]',3);
INSERT INTO "subjects" VALUES('reserve','["share","people","ann"]',8);
INSERT INTO "subjects" VALUES('reserve','["share","people","owner"]',6);
INSERT INTO "subjects" VALUES('reserve','["ticket","3"]',3);
INSERT INTO "subjects" VALUES('reserve','["ticket","6"]',6);
INSERT INTO "subjects" VALUES('reserve','["ticket","8"]',8);
INSERT INTO "subjects" VALUES('version','["id_space","people"]',2);
CREATE TRIGGER entries_update BEFORE UPDATE ON entries BEGIN SELECT RAISE(ABORT, 'entries can only be added to'); END;
CREATE TRIGGER entries_delete BEFORE DELETE ON entries BEGIN SELECT RAISE(ABORT, 'entries can only be added to'); END;
CREATE TRIGGER entries_replace BEFORE INSERT ON entries
    WHEN EXISTS (SELECT 1 FROM entries WHERE sequence = NEW.sequence) BEGIN SELECT RAISE(ABORT, 'entries can only be added to'); END;
CREATE TRIGGER subjects_update BEFORE UPDATE ON subjects BEGIN SELECT RAISE(ABORT, 'subjects can only be added to'); END;
CREATE TRIGGER subjects_delete BEFORE DELETE ON subjects BEGIN SELECT RAISE(ABORT, 'subjects can only be added to'); END;
CREATE TRIGGER subjects_replace BEFORE INSERT ON subjects
    WHEN EXISTS (SELECT 1 FROM subjects WHERE kind = NEW.kind AND subject = NEW.subject AND sequence = NEW.sequence) BEGIN SELECT RAISE(ABORT, 'subjects can only be added to'); END;
CREATE TRIGGER releases_update BEFORE UPDATE ON releases BEGIN SELECT RAISE(ABORT, 'releases can only be added to'); END;
CREATE TRIGGER releases_delete BEFORE DELETE ON releases BEGIN SELECT RAISE(ABORT, 'releases can only be added to'); END;
CREATE TRIGGER releases_replace BEFORE INSERT ON releases
    WHEN EXISTS (SELECT 1 FROM releases WHERE ticket = NEW.ticket) BEGIN SELECT RAISE(ABORT, 'releases can only be added to'); END;
CREATE TRIGGER salts_update BEFORE UPDATE ON salts BEGIN SELECT RAISE(ABORT, 'salts can only be added to'); END;
CREATE TRIGGER salts_delete BEFORE DELETE ON salts BEGIN SELECT RAISE(ABORT, 'salts can only be added to'); END;
CREATE TRIGGER salts_replace BEFORE INSERT ON salts
    WHEN EXISTS (SELECT 1 FROM salts WHERE id_space = NEW.id_space AND version = NEW.version) BEGIN SELECT RAISE(ABORT, 'salts can only be added to'); END;
COMMIT;
