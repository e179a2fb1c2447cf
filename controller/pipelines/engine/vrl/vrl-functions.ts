/** Names of the functions of VRL, and which of them the compiler at hand, which is WebAssembly, has. */
import { closest, distance } from 'fastest-levenshtein';

const words = (text: string): string[] => text.trim().split(/\s+/);

/** Functions of the engine that the compiler at hand lacks, or cannot run: no fault of a program. */
const LACKING: ReadonlySet<string> = new Set(
  words(`
    aggregate_vector_metrics basename decrypt_ip dirname dns_lookup encode_csv encode_proto encrypt_ip
    find_enrichment_table_records find_vector_metrics from_entries get_enrichment_table_record
    get_hostname get_secret get_vector_metric haversine http_request parse_dnstap parse_proto parse_yaml
    pop remove_secret reverse_dns set_secret set_semantic_meaning split_path to_entries
    validate_json_schema xxhash
  `),
);

const PRESENT = words(`
  abs append array assert assert_eq bool camelcase ceil chunks community_id compact contains contains_all
  crc decode_base16 decode_base64 decode_charset decode_gzip decode_lz4 decode_mime_q decode_percent
  decode_punycode decode_snappy decode_zlib decode_zstd decrypt del downcase encode_base16 encode_base64
  encode_charset encode_gzip encode_json encode_key_value encode_logfmt encode_lz4 encode_percent
  encode_punycode encode_snappy encode_zlib encode_zstd encrypt ends_with exists filter find flatten float
  floor for_each format_int format_number format_timestamp from_unix_timestamp get get_env_var
  get_timezone_name hmac includes int ip_aton ip_cidr_contains ip_ntoa ip_ntop ip_pton ip_subnet ip_to_ipv6
  ipv6_to_ipv4 is_array is_boolean is_empty is_float is_integer is_ipv4 is_ipv6 is_json is_null is_nullish
  is_object is_regex is_string is_timestamp join kebabcase keys length log map_keys map_values match
  match_any match_array match_datadog_query md5 merge mod now object object_from_array parse_apache_log
  parse_aws_alb_log parse_aws_cloudwatch_log_subscription_message parse_aws_vpc_flow_log parse_bytes
  parse_cbor parse_cef parse_common_log parse_csv parse_duration parse_etld parse_float parse_glog
  parse_grok parse_groks parse_influxdb parse_int parse_json parse_key_value parse_klog
  parse_linux_authorization parse_logfmt parse_nginx_log parse_query_string parse_regex parse_regex_all
  parse_ruby_hash parse_syslog parse_timestamp parse_tokens parse_url parse_user_agent parse_xml pascalcase
  push random_bool random_bytes random_float random_int redact remove replace replace_with round
  screamingsnakecase seahash set sha1 sha2 sha3 shannon_entropy sieve slice snakecase split starts_with
  string strip_ansi_escape_codes strip_whitespace strlen tag_types_externally tally tally_value timestamp
  to_bool to_float to_int to_regex to_string to_syslog_facility to_syslog_facility_code to_syslog_level
  to_syslog_severity to_unix_timestamp truncate type_def unflatten unique unnest upcase
  uuid_from_friendly_id uuid_v4 uuid_v7 values zip
`);

export const isVrlFunction = (name: string): boolean => LACKING.has(name) || PRESENT.includes(name);
export const isLacking = (name: string): boolean => LACKING.has(name);

/** What a misspelt name may have meant; undefined where none is near. The compiler at hand knows the older names alone. */
export function nearestFunction(name: string): string | undefined {
  const near = closest(name, [...PRESENT, ...LACKING]);
  return distance(name, near) <= Math.max(2, Math.floor(name.length / 3)) ? near : undefined;
}

/** Those that compile, and that stop when they are called. */
const CANNOT_RUN = new Set([...LACKING, 'get_env_var', 'log', 'parse_grok', 'parse_groks']);

// Comments, strings, and raw strings, regular expressions and times.
const NOT_CODE = /#[^\n]*|"(?:\\[\s\S]|[^"\\])*"|[rst]'(?:\\[\s\S]|[^'\\])*'/g;

/** The program without what is no code, at the same places. */
export const codeOf = (program: string): string =>
  program.replace(NOT_CODE, (text) => ' '.repeat(text.length));

export interface Call {
  name: string;
  /** In UTF-16 units. */
  start: number;
  end: number;
}

/** The calls of functions, in order. */
export function callsOf(program: string): Call[] {
  return [...codeOf(program).matchAll(/(?<![.\w])([a-z_]\w*)!?\s*\(/g)].map((match) => {
    const name = match[1] ?? '';
    return { name, start: match.index, end: match.index + name.length };
  });
}

/** The calls of functions that cannot run here, in order, at most 100. */
export function callsThatCannotRun(program: string): Call[] {
  return callsOf(program)
    .filter(({ name }) => CANNOT_RUN.has(name))
    .slice(0, 100);
}
