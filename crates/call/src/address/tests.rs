use super::*;

fn class(url: &str) -> Result<HostClass, AddressError> {
    WebAddress::parse(url).map(|address| address.host)
}

fn is_public(url: &str) -> bool {
    match class(url) {
        Ok(HostClass::Name(_) | HostClass::Address(_, AddressClass::Public)) => true,
        Ok(
            HostClass::Loopback(_)
            | HostClass::Local(_)
            | HostClass::Metadata(_)
            | HostClass::Address(..)
            | HostClass::Refused(_),
        )
        | Err(_) => false,
    }
}

#[test]
fn every_spelling_of_a_private_address_is_seen_through() {
    for host in [
        "127.0.0.1",
        "127.1",
        "2130706433",
        "0x7f.1",
        "0x7f000001",
        "0177.0.0.1",
        "017700000001",
        "0",
        "0.0.0.0",
        "[::1]",
        "[::]",
        "[::ffff:127.0.0.1]",
        "[::ffff:a9fe:a9fe]",
        "[::127.0.0.1]",
        "[64:ff9b::7f00:1]",
        "[2002:7f00:1::]",
        "[2001:0:1::1]",
        "[fe80::1]",
        "[fec0::1]",
        "[fd12::1]",
        "[ff02::1]",
        "[64:ff9b:1::1]",
        "[::ffff:0:127.0.0.1]",
        "[2001:db8::1]",
        "[3fff::1]",
        "[5f00::1]",
        "[100::1]",
        "[2600::5efe:a00:1]",
        "localhost",
        "LOCALHOST.",
        "a.localhost",
        "①②⑦.⓪.⓪.①",
        "127。0。0。1",
        "ⓛⓞⓒⓐⓛⓗⓞⓢⓣ",
        "169.254.169.254",
        "168.63.129.16",
        "100.100.100.200",
        "metadata.google.internal.",
        "192.0.0.192",
        "10.0.0.5",
        "172.16.0.1",
        "172.31.255.255",
        "192.168.1.1",
        "100.64.0.1",
        "198.19.255.255",
        "203.0.113.5",
        "224.0.0.251",
        "255.255.255.255",
        "240.0.0.1",
        "intranet",
        "printer.local",
        "169.254.169.254.nip.io",
        "localtest.me",
        "a.lvh.me",
        "kubernetes.default.svc",
        "host.docker.internal",
    ] {
        assert!(!is_public(&format!("http://{host}/")), "{host} passes as public");
    }
}

/// The IANA registries of special-purpose addresses: prefix, first and last address, whether a web host may be there.
const REGISTRIES: &[(&str, &str, &str, bool)] = &[
    ("0.0.0.0/8", "0.0.0.0", "0.255.255.255", false),
    ("10.0.0.0/8", "10.0.0.0", "10.255.255.255", false),
    ("100.64.0.0/10", "100.64.0.0", "100.127.255.255", false),
    ("127.0.0.0/8", "127.0.0.0", "127.255.255.255", false),
    ("169.254.0.0/16", "169.254.0.0", "169.254.255.255", false),
    ("172.16.0.0/12", "172.16.0.0", "172.31.255.255", false),
    ("192.0.0.0/24", "192.0.0.0", "192.0.0.255", false),
    ("192.0.0.0/29", "192.0.0.0", "192.0.0.7", false),
    ("192.0.0.8/32", "192.0.0.8", "192.0.0.8", false),
    ("192.0.0.9/32", "192.0.0.9", "192.0.0.9", true),
    ("192.0.0.10/32", "192.0.0.10", "192.0.0.10", true),
    ("192.0.0.170/31", "192.0.0.170", "192.0.0.171", false),
    ("192.0.2.0/24", "192.0.2.0", "192.0.2.255", false),
    ("192.31.196.0/24", "192.31.196.0", "192.31.196.255", true),
    ("192.52.193.0/24", "192.52.193.0", "192.52.193.255", true),
    ("192.88.99.0/24", "192.88.99.0", "192.88.99.255", false),
    ("192.168.0.0/16", "192.168.0.0", "192.168.255.255", false),
    ("192.175.48.0/24", "192.175.48.0", "192.175.48.255", true),
    ("198.18.0.0/15", "198.18.0.0", "198.19.255.255", false),
    ("198.51.100.0/24", "198.51.100.0", "198.51.100.255", false),
    ("203.0.113.0/24", "203.0.113.0", "203.0.113.255", false),
    ("224.0.0.0/4", "224.0.0.0", "239.255.255.255", false),
    ("240.0.0.0/4", "240.0.0.0", "255.255.255.255", false),
    ("::/128", "::", "::", false),
    ("::1/128", "::1", "::1", false),
    ("::ffff:0:0/96", "::ffff:0:0", "::ffff:255.255.255.255", false),
    ("64:ff9b::/96 of a public address", "64:ff9b::100:0", "64:ff9b::9ff:ffff", true),
    ("64:ff9b::/96 of a private one", "64:ff9b::a00:0", "64:ff9b::aff:ffff", false),
    ("64:ff9b:1::/48", "64:ff9b:1::", "64:ff9b:1:ffff:ffff:ffff:ffff:ffff", false),
    ("100::/64", "100::", "100::ffff:ffff:ffff:ffff", false),
    ("100:0:0:1::/64", "100:0:0:1::", "100::1:ffff:ffff:ffff:ffff", false),
    ("2001::/23", "2001::", "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff", false),
    ("2001::/32", "2001::1", "2001:0:ffff:ffff:ffff:ffff:ffff:ffff", false),
    ("2001:2::/48", "2001:2::", "2001:2:0:ffff:ffff:ffff:ffff:ffff", false),
    ("2001:10::/28", "2001:10::", "2001:1f:ffff:ffff:ffff:ffff:ffff:ffff", false),
    ("2001:20::/28", "2001:20::", "2001:2f:ffff:ffff:ffff:ffff:ffff:ffff", false),
    ("2001:30::/28", "2001:30::", "2001:3f:ffff:ffff:ffff:ffff:ffff:ffff", false),
    ("2001:db8::/32", "2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff", false),
    ("2002::/16", "2002::", "2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff", false),
    ("2620:4f:8000::/48", "2620:4f:8000::", "2620:4f:8000:ffff:ffff:ffff:ffff:ffff", true),
    ("3fff::/20", "3fff::", "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff", false),
    ("5f00::/16", "5f00::", "5f00:ffff:ffff:ffff:ffff:ffff:ffff:ffff", false),
    ("fc00::/7", "fc00::", "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", false),
    ("fe80::/10", "fe80::", "febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff", false),
    ("fec0::/10", "fec0::", "feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", false),
    ("ff00::/8", "ff00::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", false),
];

#[test]
fn both_ends_of_every_registered_range_are_judged() {
    for (range, first, last, may) in REGISTRIES {
        for end in [first, last] {
            let public = judge_ip(end.parse().unwrap()) == AddressClass::Public;
            assert_eq!(public, *may, "{end} of {range}");
        }
    }
}

#[test]
fn what_serves_a_cloud_s_credentials_is_told_from_what_is_merely_private() {
    for host in [
        "169.254.169.254",
        "169.254.170.2",
        "169.254.170.23",
        "168.63.129.16",
        "100.100.100.200",
        "100.96.0.96",
        "169.254.0.23",
        "169.254.42.42",
        "192.0.0.192",
        "[fd00:ec2::254]",
        "[fd20:ce::254]",
        "[fd00:a9fe:a9fe::1]",
        "[fe80::a9fe:a9fe]",
        "[::ffff:169.254.169.254]",
        "[64:ff9b::a9fe:a9fe]",
        "[2002:a9fe:a9fe::]",
        "metadata.google.internal",
        "METADATA.goog.",
        "instance-data",
        "api.metadata.cloud.ibm.com",
    ] {
        let class = class(&format!("http://{host}/")).unwrap();
        let metadata = matches!(class, HostClass::Metadata(_) | HostClass::Address(_, AddressClass::Metadata));
        assert!(metadata, "{host}: {class:?}");
    }
}

#[test]
fn neighbours_of_private_ranges_are_public() {
    for host in [
        "11.0.0.1",
        "9.255.255.255",
        "172.15.255.255",
        "172.32.0.1",
        "192.167.255.255",
        "192.169.0.1",
        "100.63.255.255",
        "100.128.0.1",
        "198.17.255.255",
        "198.20.0.1",
        "128.0.0.1",
        "126.255.255.255",
        "223.255.255.255",
        "[2001:4860:4860::8888]",
        "[2600::1]",
        "[2620:4f:8000::1]",
        "[64:ff9b::808:808]",
        "example.com",
        "bücher.example",
        "127.0.0.1.example.com",
        "localhost.example.com",
        "xn--bcher-kva.example",
    ] {
        assert!(is_public(&format!("http://{host}/")), "{host} is refused");
    }
}

#[test]
fn what_clients_read_differently_is_refused() {
    for url in [
        "http://example.com@127.0.0.1/",
        "http://u:p@example.com/",
        "http://example.com%00.evil.test/",
        "http://example.com\\@evil.test/",
        "http://exa\tmple.com/",
        "http://exam ple.com/",
        "http:/example.com/",
        "http:example.com",
        "//example.com/",
        "http:///example.com",
        "http://a_b.example.com/",
        "http://-a.example.com/",
        "http://4425673729/",
        "http://1.2.3.4.5/",
        "http://256.1.1.1/",
        "http://[::1%25eth0]/",
        "http://[::1/",
        "http://example..com/",
        "file:///etc/passwd",
        "gopher://example.com/",
        "javascript:alert(1)",
        "",
        "http://",
        "http://example.com:99999/",
    ] {
        assert!(class(url).is_err(), "{url} passes: {:?}", class(url));
    }
}

#[test]
fn a_bad_address_in_the_query_is_not_the_target() {
    assert!(is_public("https://api.example.com/?next=http://169.254.169.254/&u=a@b%00"));
}

#[test]
fn bare_hosts_are_read_as_urls_are() {
    assert_eq!(judge_host("0x7f.1"), class("http://0x7f.1/").unwrap());
    assert_eq!(judge_host("::1"), class("http://[::1]/").unwrap());
    assert_eq!(judge_host("Example.COM."), HostClass::Name("example.com".into()));
    assert_eq!(split_port("git@example.com:22").unwrap(), ("example.com", Some(22)));
    assert_eq!(split_port("[::1]:80").unwrap(), ("[::1]", Some(80)));
    assert_eq!(split_port("::1").unwrap(), ("::1", None));
}

#[test]
fn a_listed_host_is_neither_a_prefix_nor_a_bare_suffix() {
    let list = |entry: &str| HostPattern::parse(entry).unwrap();
    assert!(list("api.example.com").covers("api.example.com", 443));
    assert!(!list("api.example.com").covers("api.example.com.evil.test", 443));
    assert!(!list("api.example.com").covers("api.example.com", 22));
    assert!(list("api.example.com:22").covers("api.example.com", 22));
    assert!(list("*.example.com").covers("a.b.example.com", 443));
    assert!(!list("*.example.com").covers("example.com", 443));
    assert!(!list("*.example.com").covers("evilexample.com", 443));
    assert!(list("Bücher.example").covers("xn--bcher-kva.example", 443));
    assert!(list("*.example.com").includes(&list("*.a.example.com")));
    assert!(!list("*.a.example.com").includes(&list("*.example.com")));
    assert!(HostPattern::parse("*.127.0.0.1").is_err());
    assert!(HostPattern::parse("*").is_err());
}

/// Rows that need a resolver or a redirecting server are judged where dialling happens.
const NEED_A_FIXTURE: &[&str] = &["redirect", "rebinding", "multi-answer", "aaaa-only", "cname", "redirect-ok"];

#[test]
#[expect(clippy::disallowed_methods, reason = "the shared table is test data, not an input of judging")]
fn every_row_of_the_shared_table_is_right() {
    let here = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let given = std::env::var_os("TOLLGATE_SHARED").map(std::path::PathBuf::from);
    let table = given
        .into_iter()
        .chain(here.ancestors().map(|dir| dir.join("shared")))
        .find_map(|dir| std::fs::read_to_string(dir.join("cases/ssrf.tsv")).ok());
    let Some(table) = table else {
        println!("skipped: no shared/cases/ssrf.tsv beside the workspace, and TOLLGATE_SHARED is not set");
        return;
    };
    let listed: Vec<HostPattern> = ["api.example.com", "*.example.com", "xn--bcher-kva.example"]
        .iter()
        .map(|entry| HostPattern::parse(entry).unwrap())
        .collect();
    let mut judged = 0;
    for row in table.lines().skip(1) {
        let [id, verdict, kind, url, ..] = row.split('\t').collect::<Vec<_>>()[..] else { continue };
        if NEED_A_FIXTURE.contains(&kind) {
            continue;
        }
        let passes = WebAddress::parse(url).is_ok_and(|address| match &address.host {
            HostClass::Name(name) => listed.iter().any(|entry| entry.covers(name, address.port)),
            HostClass::Address(_, class) => *class == AddressClass::Public,
            HostClass::Loopback(_) | HostClass::Local(_) | HostClass::Metadata(_) | HostClass::Refused(_) => false,
        });
        assert_eq!(passes, verdict == "allow", "{id} {url}");
        judged += 1;
    }
    assert!(judged > 40, "only {judged} rows were judged");
}
