"""The file `my_log.py` of docs/for-builders.md, with a small log in Go and a client in Go."""

import os
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest
from documented_commands import read_page
from missing import skip_without

from tidemark import WorkloadSpec, generate_plan
from tidemark.harness.live.session import ContainerSession
from tidemark.harness.systems.outside.adapter import OutsideSystem
from tidemark.harness.systems.registry import find_system
from tidemark.nemesis import Fault, Plan
from tidemark.nodes.core.cluster import ClusterSpec

PAGE = read_page(Path(__file__).parents[2] / "docs" / "for-builders.md")
S = 1_000_000
WORK = WorkloadSpec(producers=2, consumers=1, interval_us=S // 20, poll_us=S // 10, batch=1)
POWER = Plan(0, 0, 1, "by hand", ClusterSpec(), WORK, (Fault("power-all", S, S // 5),), 2 * S)
PAUSE = Plan(0, 0, 1, "by hand", ClusterSpec(), WORK, (Fault("pause", S // 2, S // 5, "b3"),), 4 * S)
MOST_RECORDS = 40
NODE = """
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

type record struct {
	Log   string
	Value int
}
type copied struct {
	From    int
	Records []record
}

var (
	syncs, panics string // by -ldflags
	mutex         sync.Mutex
	records       []record
	file          *os.File
	others        []string
	patient       = http.Client{Timeout: 300 * time.Millisecond}
)

func add(one record) {
	text, _ := json.Marshal(one)
	if _, err := file.Write(append(text, '\\n')); err != nil {
		panic(err)
	}
	if syncs != "" {
		if err := file.Sync(); err != nil {
			panic(err)
		}
	}
	if records = append(records, one); panics != "" && len(records) == MOST_RECORDS {
		go panic("no room for more") // a handler's own panic is caught
	}
}

func tell(peer string, from int) int {
	body, _ := json.Marshal(copied{from, records[from:]})
	answer, err := patient.Post("http://"+peer+"/copy", "", bytes.NewReader(body))
	if err != nil {
		return 0
	}
	defer answer.Body.Close()
	has := 0
	if json.NewDecoder(answer.Body).Decode(&has) != nil {
		return 0
	}
	return has
}

func main() {
	id := flag.Int("id", 0, "")
	peers, listen, data := flag.String("peers", "", ""), flag.String("listen", "", ""), flag.String("data", "", "")
	flag.Parse()
	for _, peer := range strings.Split(*peers, ",") {
		if number, address, _ := strings.Cut(peer, "="); number != string(rune('0'+*id)) {
			others = append(others, address)
		}
	}
	path := filepath.Join(*data, "log")
	if there, err := os.Open(path); err == nil {
		for lines := bufio.NewScanner(there); lines.Scan(); {
			var one record
			if json.Unmarshal(lines.Bytes(), &one) == nil {
				records = append(records, one)
			}
		}
	}
	file, _ = os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	http.HandleFunc("/copy", func(w http.ResponseWriter, r *http.Request) {
		mutex.Lock()
		defer mutex.Unlock()
		var asked copied
		json.NewDecoder(r.Body).Decode(&asked)
		for at, one := range asked.Records {
			if asked.From+at == len(records) {
				add(one)
			}
		}
		json.NewEncoder(w).Encode(len(records))
	})
	http.HandleFunc("/send", func(w http.ResponseWriter, r *http.Request) {
		mutex.Lock()
		defer mutex.Unlock()
		var one record
		json.NewDecoder(r.Body).Decode(&one)
		if *id != 1 {
			http.Error(w, "node 1 leads", http.StatusMisdirectedRequest)
			return
		}
		offset := 0
		for _, other := range records {
			if other.Log == one.Log {
				offset++
			}
		}
		add(one)
		have := 1
		for _, peer := range others {
			if has := tell(peer, len(records)-1); has == len(records) || has < len(records) && tell(peer, has) == len(records) {
				have++
			}
		}
		if have*2 <= len(others)+1 {
			http.Error(w, "no majority has it", http.StatusServiceUnavailable)
			return
		}
		json.NewEncoder(w).Encode(offset)
	})
	http.HandleFunc("/poll", func(w http.ResponseWriter, r *http.Request) {
		mutex.Lock()
		defer mutex.Unlock()
		var from record
		json.NewDecoder(r.Body).Decode(&from)
		if *id != 1 {
			http.Error(w, "node 1 leads", http.StatusMisdirectedRequest)
			return
		}
		found, offset := [][]int{}, 0
		for _, one := range records {
			if one.Log == from.Log {
				if offset >= from.Value {
					found = append(found, []int{offset, one.Value})
				}
				offset++
			}
		}
		json.NewEncoder(w).Encode(found)
	})
	go http.ListenAndServe(":7000", nil)
	panic(http.ListenAndServe(*listen, nil))
}
""".replace("MOST_RECORDS", str(MOST_RECORDS))
CLIENT = """
package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"
)

func main() {
	node, f, log, what := os.Args[1], os.Args[2], os.Args[3], os.Args[4]
	client := http.Client{Timeout: 2 * time.Second}
	answer, err := client.Post("http://"+node+"/"+f, "", strings.NewReader(fmt.Sprintf(`{"Log":%q,"Value":%s}`, log, what)))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	text, err := io.ReadAll(answer.Body)
	switch {
	case err != nil:
		os.Exit(1)
	case answer.StatusCode == http.StatusMisdirectedRequest:
		fmt.Fprint(os.Stderr, string(text))
		os.Exit(3)
	case answer.StatusCode != http.StatusOK:
		os.Exit(1)
	}
	fmt.Print(string(text))
}
"""


@pytest.fixture
def folder(tmp_path):
    """With the page's file."""
    (tmp_path / "my_log.py").write_text(PAGE.files["my_log.py"], encoding="utf-8")
    return tmp_path


@pytest.fixture
def client(folder):
    """The file's, with a program in the shell's language in place of the one in Go."""

    def client(program):
        (folder / "mylogctl").write_text(f"#!/bin/sh\n{program}\n", encoding="utf-8")
        (folder / "mylogctl").chmod(0o755)
        client = find_system(str(folder / "my_log.py")).real.client("log")
        client.open(("127.0.0.1", 22011))
        return client

    return client


def test_it_says_what_there_is_on_a_node_and_what_runs(folder):
    system = find_system(str(folder / "my_log.py"))
    nodes = {number: SimpleNamespace(address=f"10.77.0.{10 + number}") for number in (1, 2, 3)}

    assert isinstance(system, OutsideSystem)
    assert system.real.install().files == {"/opt/mylog": folder / "mylog"}
    assert system.real.process(2, nodes, ("t-0",)).argv == (
        "/opt/mylog",
        "-id=2",
        "-peers=1=10.77.0.11:7000,2=10.77.0.12:7000,3=10.77.0.13:7000",
        "-listen=0.0.0.0:19092",
        "-data=.",
    )


def test_its_client_is_asked_in_words_and_answers_in_json(client):
    answers = client('[ "$1 $2 $3" = "127.0.0.1:22011 poll t-0" ] && echo "[[$4, 7]]"')

    assert answers.invoke("poll", ("t-0", 5)) == ("ok", [[5, 7]], None)


def test_its_client_tells_what_certainly_was_not_done(client):
    assert client("echo node 1 leads >&2; exit 3").invoke("send", ("t-0", 7)) == ("fail", None, "node 1 leads\n")


def test_whatever_else_goes_wrong_with_its_client_proves_nothing(client):
    with pytest.raises(subprocess.CalledProcessError):
        client("exit 1").invoke("send", ("t-0", 7))


@pytest.fixture
def played(engine, image, folder):
    """Runs a plan on the log, as it was linked."""
    sources = folder / "sources"
    for name, text in (("mylog", NODE), ("mylogctl", CLIENT)):
        (sources / name).mkdir(parents=True)
        (sources / name / "main.go").write_text(text, encoding="utf-8")
    (sources / "go.mod").write_text("module example\n\ngo 1.18\n", encoding="utf-8")
    offline = {"CGO_ENABLED": "0", "GOFLAGS": "-mod=mod", "GOPROXY": "off", "GOTOOLCHAIN": "local"}

    def played(plan, link=""):
        for name in ("mylog", "mylogctl"):
            words = ["go", "build", "-ldflags", link, "-o", str(folder / name), f"./{name}"]
            try:
                subprocess.run(words, cwd=sources, check=True, env=os.environ | offline)
            except FileNotFoundError:
                skip_without("Go: install a toolchain")
        system = find_system(str(folder / "my_log.py"))
        with ContainerSession(3, system=system, tell=lambda _: None) as session:
            return session.execute(plan, system.variant(system.default_variant), folder=folder / "run").verdict

    return played


@pytest.mark.docker
@pytest.mark.systems
def test_a_program_in_go_that_does_not_sync_loses_what_it_wrote_with_the_power(played):
    verdict = played(POWER)

    assert (verdict.valid, verdict.judged_from) == ("invalid", "clients")
    assert {one.verdict for one in verdict.named("lost-write")} == {"violation"}


@pytest.mark.docker
@pytest.mark.systems
def test_a_program_in_go_that_syncs_loses_nothing(played):
    verdict = played(generate_plan(1, 0, "destructive", ClusterSpec()), "-X main.syncs=yes")

    assert verdict.valid == "valid", (verdict.anomalies, verdict.unknown_because)


@pytest.mark.docker
@pytest.mark.systems
def test_a_program_that_panics_is_a_violation(played):
    verdict = played(PAUSE, "-X main.panics=yes")

    assert verdict.valid == "invalid"
    assert verdict.named("broker-crashed")
