#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# serve behind a proxy, as the README sets it up: nginx and Caddy are started with its very lines. TLS, the password, the page,
# the metrics and the events have to come through, and a client cannot choose the Host that serve sees.
# Changed in the lines: the port of serve, and the port that the proxy listens to. A proxy that is not installed is unpacked here: an
# installed one would serve at the next start of the machine.
set -u
# shellcheck source=tests/live/lib.sh
. "$(dirname "$0")/lib.sh"
readme=$(dirname "$0")/../../README.md
disk='' pids=()

# shellcheck disable=SC2317 # called by the trap
clean() {
	local pid
	for pid in ${pids[@]+"${pids[@]}"}; do kill "$pid" 2>/dev/null; done
	wait
	[ -n "$disk" ] && losetup -d "$disk"
	[ -n "$tmp" ] && rm -rf "$tmp"
}

# block PATTERN: the block of the README whose first line matches.
block() {
	awk -v pattern="$1" '/^```/ { inside = !inside; first = inside; if (!inside && found) exit; next }
		first { found = $0 ~ pattern; first = 0 }
		inside && found' "$readme"
}

# program NAME: where it is, installed or unpacked from the package of that name.
program() {
	type -P "$1" && return
	(cd "$tmp" && apt-get -qq download "$1" && dpkg-deb -x "$1"_*.deb "$tmp/root") >>"$tmp/apt" 2>&1
	find "$tmp/root" -path "*/*bin/$1" -type f 2>/dev/null | grep .
}

free_port() {
	python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

start_serve() {
	"$IOSONAR" serve --listen 127.0.0.1:0 -d "${disk#/dev/}" 2>"$tmp/err" </dev/null >/dev/null &
	pids+=($!)
	for _ in $(seq 100); do
		port=$(sed -n 's,^serving http://127.0.0.1:\([0-9]*\)$,\1,p' "$tmp/err")
		[ -z "$port" ] || return
		sleep 0.1
	done
}

# ask PATH [OPTION...]: through the proxy, as a browser of its users does.
ask() {
	local path=$1
	shift
	curl -sS --max-time 20 --cacert "$tmp/ca" --resolve "store1.example.org:$https:127.0.0.1" "$@" \
		"https://store1.example.org:$https$path" 2>>"$tmp/err"
}

await_proxy() { # await_proxy OPTION...
	for _ in $(seq 200); do
		[ "$(ask /healthz "$@" -o "$tmp/health" -w '%{http_code}')" = 200 ] && : >"$tmp/err" && return
		sleep 0.1
	done
	sed 's/^/# /' "$tmp/proxy"
}

# comes_through PROXY OPTION...: what a user of the proxy expects.
comes_through() {
	local proxy=$1 events
	shift
	await_proxy "$@"
	is "$(ask / "$@" | grep -c '<title>')" 1 "$proxy: the page"
	curl -sS --max-time 20 "http://127.0.0.1:$port/metrics" >"$tmp/direct"
	ask /metrics "$@" >"$tmp/through"
	is "$(grep -v seconds "$tmp/through")" "$(grep -v seconds "$tmp/direct")" "$proxy: the metrics"
	is "$(grep -c '^iosonar_commands_total' "$tmp/through")" "$(grep -c '^iosonar_commands_total' "$tmp/direct")" "$proxy: of as many series"
	events=$(ask /api/events "$@" --max-time 8 -N 2>/dev/null | grep -c '^data: ')
	[ "$events" -ge 2 ]
	ok $? "$proxy: events come as they happen ($events)"
	is "$(ask /healthz "$@" -H 'Host: 127.0.0.1' -o "$tmp/body" -w '%{http_code}' --http1.1; cat "$tmp/body")" \
		"$(as_answered "$proxy")" "$proxy: another Host of a client"
}

# What a proxy answers to a name that is not its own: nginx has one server and hands it over, with its own Host; Caddy answers itself.
as_answered() {
	case $1 in
	nginx) echo "200$(curl -sS "http://127.0.0.1:$port/healthz")" ;;
	Caddy) echo 200 ;; # and an empty page
	esac
}

# ---- nginx ----

check_nginx() {
	local home=$tmp/nginx
	https=$(free_port)
	mkdir -p "$home"
	openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=store1.example.org -addext subjectAltName=DNS:store1.example.org \
		-keyout "$home/store1.key" -out "$home/store1.crt" 2>"$tmp/openssl"
	cp "$home/store1.crt" "$tmp/ca"
	echo "reader:$(openssl passwd -apr1 secret)" >"$home/iosonar.htpasswd"
	block '^server \{' | sed "s/127.0.0.1:9936/127.0.0.1:$port/; s/listen 443/listen 127.0.0.1:$https/" >"$home/readme.conf"
	is "$(grep -c "proxy_pass http://127.0.0.1:$port;" "$home/readme.conf")" 1 "nginx: the lines of the README"
	cat >"$home/nginx.conf" <<-END
		user root; daemon off; pid $home/pid; error_log $home/errors;
		events {}
		http {
			access_log off; client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fastcgi; uwsgi_temp_path uwsgi;
			scgi_temp_path scgi; include readme.conf;
		}
	END
	"$nginx" -p "$home" -e "$home/errors" -c nginx.conf >"$tmp/proxy" 2>&1 &
	pids+=($!)
	comes_through nginx -u reader:secret
	is "$(ask /metrics -o "$tmp/body" -w '%{http_code}')" 401 "nginx: nothing without the password"
	is "$(grep -c '^iosonar' "$tmp/body")" 0 "nginx: not even in the body"
}

# ---- Caddy ----

check_caddy() {
	local home=$tmp/caddy
	https=$(free_port)
	mkdir -p "$home"
	# Certificates of its own: nobody signs one for example.org.
	{
		printf '{\n\tadmin off\n\tlocal_certs\n\tskip_install_trust\n\tauto_https disable_redirects\n\thttps_port %s\n}\n' "$https"
		block '^store1.example.org \{' | sed "s/127.0.0.1:9936/127.0.0.1:$port/"
	} >"$home/Caddyfile"
	is "$(grep -c "reverse_proxy 127.0.0.1:$port {" "$home/Caddyfile")" 1 "Caddy: the lines of the README"
	HOME=$home XDG_DATA_HOME=$home XDG_CONFIG_HOME=$home "$caddy" run --config "$home/Caddyfile" --adapter caddyfile >"$tmp/proxy" 2>&1 &
	pids+=($!)
	for _ in $(seq 200); do
		cp "$home/caddy/pki/authorities/local/root.crt" "$tmp/ca" 2>/dev/null && break
		sleep 0.1
	done
	comes_through Caddy
}

[ "$(id -u)" = 0 ] || skip_all "requires root"
for tool in curl python3 openssl; do command -v $tool >/dev/null || skip_all "requires $tool"; done
tmp=$(mktemp -d /tmp/iosonar-proxies.XXXXXX)
trap clean EXIT
truncate -s 16M "$tmp/disk"
disk=$(losetup -f --show "$tmp/disk" 2>"$tmp/err") || skip_all "no loop device"
start_serve
[ -n "$port" ] || skip_all "iosonar cannot measure here: $(head -n 1 "$tmp/err")"
dd if="$disk" of=/dev/null bs=4k count=16 iflag=direct status=none
if nginx=$(program nginx); then check_nginx; else skip nginx "it cannot be had here: $(tail -n 1 "$tmp/apt")"; fi
if caddy=$(program caddy); then check_caddy; else skip Caddy "it cannot be had here: $(tail -n 1 "$tmp/apt")"; fi
echo "1..$nr"
exit $((failed > 0))
