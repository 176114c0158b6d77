// Alerts about the processes and what they serve: webhooks, sign-ins, builds, tenants. Data only.
import type { Alert } from './alert.ts'

const steady = (value: number): string => `${value}x60`
/** The notation has no repetition of it. */
const unknown = Array.from({ length: 61 }, () => 'NaN').join(' ')

export const serviceAlerts: readonly Alert[] = [
  {
    name: 'SekishoNotScraped',
    expression: 'absent(sekisho_tokens) or absent(sekisho_webhook_inbox_deliveries)',
    for: '10m',
    severity: 'critical',
    summary: 'Prometheus has no metrics of the controllers or of the broker.',
    example: {
      minutes: 20,
      fires: { 'sekisho_tokens{state="live"}': steady(1) },
      silent: { 'sekisho_tokens{state="live"}': steady(1), sekisho_webhook_inbox_deliveries: steady(0) },
    },
  },
  {
    name: 'SekishoNoLeader',
    expression: 'max by (process) (leader_election_master_status{process=~"standalone|broker|controllers"}) == 0',
    for: '3m',
    severity: 'critical',
    summary: 'No replica of {{ $labels.process }} leads: nothing is reconciled.',
    example: {
      minutes: 10,
      fires: {
        'leader_election_master_status{process="controllers",instance="a"}': steady(0),
        'leader_election_master_status{process="controllers",instance="b"}': steady(0),
      },
      silent: {
        'leader_election_master_status{process="controllers",instance="a"}': '1x4 0x56',
        'leader_election_master_status{process="controllers",instance="b"}': '0x5 1x55',
      },
    },
  },
  {
    name: 'SekishoDatabaseAway',
    expression:
      'max(sekisho_tokens{state="live"} != sekisho_tokens{state="live"}) or max(sekisho_webhook_inbox_deliveries != sekisho_webhook_inbox_deliveries)',
    for: '2m',
    severity: 'critical',
    summary: 'The database does not answer the broker or the controllers.',
    example: {
      minutes: 10,
      fires: { 'sekisho_tokens{state="live"}': unknown },
      silent: { 'sekisho_tokens{state="live"}': steady(3), sekisho_webhook_inbox_deliveries: steady(0) },
    },
  },
  {
    name: 'SekishoHttpErrors',
    expression:
      'sum by (server) (rate(sekisho_http_requests_total{code=~"5.."}[10m])) / sum by (server) (rate(sekisho_http_requests_total[10m])) > 0.05',
    for: '10m',
    severity: 'critical',
    summary: '{{ $value | humanizePercentage }} of the requests to {{ $labels.server }} end with a server error.',
    example: {
      minutes: 40,
      fires: {
        'sekisho_http_requests_total{server="broker",code="200"}': '0+10x60',
        'sekisho_http_requests_total{server="broker",code="503"}': '0+2x60',
      },
      silent: {
        'sekisho_http_requests_total{server="broker",code="200"}': '0+100x60',
        'sekisho_http_requests_total{server="broker",code="404"}': '0+100x60',
        'sekisho_http_requests_total{server="broker",code="503"}': '0+1x60',
      },
    },
  },
  {
    name: 'SekishoReconcilesFail',
    expression: 'sum by (controller) (rate(controller_runtime_reconcile_total{result=~"error|timeout"}[15m])) > 0.1',
    for: '30m',
    severity: 'warning',
    summary: 'The controller {{ $labels.controller }} fails again and again.',
    example: {
      minutes: 60,
      fires: { 'controller_runtime_reconcile_total{controller="tenant",result="error"}': '0+12x60' },
      silent: {
        'controller_runtime_reconcile_total{controller="tenant",result="error"}': '0+30x20 600x40',
        'controller_runtime_reconcile_total{controller="tenant",result="success"}': '0+600x60',
      },
    },
  },
  {
    name: 'SekishoWatchSilent',
    expression: 'max by (process, kind) (sekisho_watch_silence_seconds) > 300',
    for: '5m',
    severity: 'warning',
    summary: '{{ $labels.process }} has not heard of {{ $labels.kind }} from the API server for {{ $value | humanizeDuration }}.',
    example: {
      minutes: 20,
      fires: { 'sekisho_watch_silence_seconds{process="controllers",kind="Tenant"}': '0+60x60' },
      silent: { 'sekisho_watch_silence_seconds{process="controllers",kind="Tenant"}': '0+30x8 5x52' },
    },
  },
  {
    name: 'SekishoWebhooksLate',
    expression: 'max(sekisho_webhook_inbox_oldest_seconds) > 300',
    for: '5m',
    severity: 'warning',
    summary: 'A webhook delivery has waited for {{ $value | humanizeDuration }}: pushes and pull requests are noticed late.',
    example: {
      minutes: 30,
      fires: { sekisho_webhook_inbox_oldest_seconds: '0+60x60' },
      silent: { sekisho_webhook_inbox_oldest_seconds: '0+60x7 0x53' },
    },
  },
  {
    name: 'SekishoWebhooksGivenUp',
    expression: 'sum(increase(sekisho_webhook_deliveries_handled_total{result="given_up"}[1h])) > 0',
    for: '0m',
    severity: 'warning',
    summary: 'Webhook deliveries were given up: what they were about is noticed by the next sweep only.',
    example: {
      minutes: 20,
      fires: { 'sekisho_webhook_deliveries_handled_total{result="given_up"}': '0x5 1x55' },
      silent: {
        'sekisho_webhook_deliveries_handled_total{result="given_up"}': steady(2),
        'sekisho_webhook_deliveries_handled_total{result="retried"}': '0+5x60',
      },
    },
  },
  {
    name: 'SekishoWebhooksNotReadable',
    expression: 'sum(increase(sekisho_webhook_deliveries_form_encoded_total[30m])) > 0',
    for: '0m',
    severity: 'critical',
    summary: 'GitHub sends webhooks as forms, which cannot be read: every delivery is refused.',
    example: {
      minutes: 20,
      fires: { sekisho_webhook_deliveries_form_encoded_total: '0+1x60' },
      silent: { sekisho_webhook_deliveries_form_encoded_total: steady(7) },
    },
  },
  {
    name: 'SekishoWebhooksUnsigned',
    expression: 'sum(rate(sekisho_webhook_deliveries_refused_total[15m])) > 1',
    for: '15m',
    severity: 'warning',
    summary:
      '{{ $value | humanize }} requests a second to the webhook endpoint are refused: the webhook secret differs, or somebody tries.',
    example: {
      minutes: 50,
      fires: { sekisho_webhook_deliveries_refused_total: '0+120x60' },
      silent: { sekisho_webhook_deliveries_refused_total: '0+20x60' },
    },
  },
  {
    name: 'SekishoSignInsFail',
    expression:
      'sum(increase(sekisho_sign_ins_total{result="refused"}[30m])) > 5 unless sum(increase(sekisho_sign_ins_total{result="signed_in"}[30m])) > 0',
    for: '5m',
    severity: 'warning',
    summary: 'Nobody could sign in for half an hour, and {{ $value | humanize }} were refused.',
    example: {
      minutes: 60,
      fires: { 'sekisho_sign_ins_total{result="refused"}': '0+1x60', 'sekisho_sign_ins_total{result="signed_in"}': steady(9) },
      silent: { 'sekisho_sign_ins_total{result="refused"}': '0+1x60', 'sekisho_sign_ins_total{result="signed_in"}': '0+1x60' },
    },
  },
  {
    name: 'SekishoOnboardingsWait',
    expression: 'max(sekisho_onboardings{state="waiting-for-admin"}) > 0',
    for: '1d',
    severity: 'warning',
    summary: '{{ $value }} onboardings have waited for a platform admin for a day.',
    example: {
      minutes: 1560,
      fires: { 'sekisho_onboardings{state="waiting-for-admin"}': '1x1560' },
      silent: {
        'sekisho_onboardings{state="waiting-for-admin"}': '1x600 0x960',
        'sekisho_onboardings{state="needs-owner"}': '3x1560',
      },
    },
  },
  {
    name: 'SekishoTenantsNotReady',
    expression: 'max(sekisho_tenants{ready="false"}) > 0',
    for: '30m',
    severity: 'warning',
    summary: '{{ $value }} Tenants are not ready.',
    example: {
      minutes: 60,
      fires: { 'sekisho_tenants{ready="false"}': steady(1) },
      silent: { 'sekisho_tenants{ready="false"}': '1x20 0x40', 'sekisho_tenants{ready="true"}': steady(9) },
    },
  },
  {
    name: 'SekishoBuildsWait',
    expression: 'max(sekisho_builds{state="queued"}) > 0',
    for: '30m',
    severity: 'warning',
    summary: 'Builds have waited for a slot for more than half an hour.',
    example: {
      minutes: 60,
      fires: { 'sekisho_builds{state="queued"}': steady(3) },
      silent: { 'sekisho_builds{state="queued"}': '3x25 0 3x20 0 3x11', 'sekisho_builds{state="running"}': steady(4) },
    },
  },
  {
    name: 'SekishoSealedByUnknownKey',
    expression: 'max by (keyring) (sekisho_sealed_values{key="unknown"}) > 0',
    for: '10m',
    severity: 'critical',
    summary:
      '{{ $value }} values in the database cannot be opened: their sealing key is not in the keyring of {{ $labels.keyring }}.',
    example: {
      minutes: 20,
      fires: { 'sekisho_sealed_values{keyring="broker",key="unknown"}': steady(3) },
      silent: {
        'sekisho_sealed_values{keyring="broker",key="unknown"}': steady(0),
        'sekisho_sealed_values{keyring="broker",key="former"}': steady(8),
      },
    },
  },
]
