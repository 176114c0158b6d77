// Alerts about what stands between tenants: network policies, walls that are compared and tried, the webhook's certificate, the
// authorizer. Data only.
import type { Alert } from './alert.ts'

const steady = (value: number): string => `${value}x60`
/** The notation has no repetition of it. */
const unknown = Array.from({ length: 61 }, () => 'NaN').join(' ')

export const wallAlerts: readonly Alert[] = [
  {
    name: 'SekishoNetworkPoliciesNotEnforced',
    expression: 'min by (direction) (sekisho_network_policies_enforced) == 0',
    for: '5m',
    severity: 'critical',
    summary:
      'The cluster does not enforce network policies ({{ $labels.direction }}): pods of tenants reach what is forbidden to them.',
    example: {
      minutes: 15,
      fires: { 'sekisho_network_policies_enforced{direction="egress"}': steady(0) },
      silent: {
        'sekisho_network_policies_enforced{direction="egress"}': steady(1),
        'sekisho_network_policies_enforced{direction="ingress"}': unknown,
      },
    },
  },
  {
    name: 'SekishoWallOff',
    expression: 'min by (wall) (sekisho_wall_holds) == 0',
    for: '3m',
    severity: 'critical',
    summary: 'The wall {{ $labels.wall }} is off: what it protects stands on the other layers alone.',
    example: {
      minutes: 10,
      fires: { 'sekisho_wall_holds{wall="secrets"}': steady(0), 'sekisho_wall_holds{wall="tenants"}': steady(1) },
      silent: { 'sekisho_wall_holds{wall="secrets"}': '1x10 0 0 1x48', 'sekisho_wall_holds{wall="tenants"}': unknown },
    },
  },
  {
    name: 'SekishoWallsNotProbed',
    // Without a leader, and after a start, there is no such series.
    expression: 'time() - max(sekisho_walls_probed_timestamp_seconds) > 900 or absent(sekisho_walls_probed_timestamp_seconds)',
    for: '5m',
    severity: 'warning',
    summary: 'Nobody has looked at the walls for more than a quarter of an hour: what is switched off is not reported.',
    example: {
      minutes: 30,
      fires: { sekisho_walls_probed_timestamp_seconds: '0x30' },
      silent: { sekisho_walls_probed_timestamp_seconds: '0+60x30' },
      firesWithout: true,
    },
  },
  {
    name: 'SekishoAdmissionCertificateEnds',
    expression: 'min(sekisho_admission_certificate_expiry_timestamp_seconds) - time() < 5 * 86400',
    for: '1h',
    severity: 'critical',
    summary: 'The certificate of the admission webhook ends in {{ $value | humanizeDuration }} and was not renewed.',
    example: {
      minutes: 90,
      fires: { sekisho_admission_certificate_expiry_timestamp_seconds: '400000x90' },
      silent: { sekisho_admission_certificate_expiry_timestamp_seconds: '4000000x90' },
    },
  },
  {
    name: 'SekishoAuthorizerDown',
    // Where it is not installed there never was such a series.
    expression: 'max(last_over_time(sekisho_authorizer_reviews_total[1d])) unless max(sekisho_authorizer_reviews_total)',
    for: '5m',
    severity: 'critical',
    summary: 'No replica of the authorizer runs that ran within a day: RBAC alone decides who reads what is the platform’s.',
    example: {
      minutes: 40,
      fires: { 'sekisho_authorizer_reviews_total{answer="denied"}': '0+1x10' },
      silent: {
        'sekisho_authorizer_reviews_total{answer="denied",instance="a"}': '0+1x10',
        'sekisho_authorizer_reviews_total{answer="denied",instance="b"}': '0x40',
      },
    },
  },
  {
    name: 'SekishoAuthorizerNotAsked',
    // The probe of the walls alone reads Secrets every two minutes, about which it is asked.
    expression: 'sum(increase(sekisho_authorizer_reviews_total[15m])) == 0',
    for: '5m',
    severity: 'critical',
    summary: 'The authorizer runs, and no API server asks it: RBAC alone decides who reads what is the platform’s.',
    example: {
      minutes: 60,
      fires: { 'sekisho_authorizer_reviews_total{answer="denied"}': '0+5x20 100x40' },
      silent: {
        'sekisho_authorizer_reviews_total{answer="denied",instance="a"}': steady(7),
        'sekisho_authorizer_reviews_total{answer="denied",instance="b"}': '0+5x60',
      },
    },
  },
  {
    name: 'SekishoAuthorizerCertificateEnds',
    expression: 'min(sekisho_authorizer_certificate_expiry_timestamp_seconds) - time() < 5 * 86400',
    for: '1h',
    severity: 'critical',
    summary: 'The certificate of the authorizer ends in {{ $value | humanizeDuration }} and was not renewed.',
    example: {
      minutes: 90,
      fires: { sekisho_authorizer_certificate_expiry_timestamp_seconds: '400000x90' },
      silent: { sekisho_authorizer_certificate_expiry_timestamp_seconds: '4000000x90' },
    },
  },
]
