// Alerts about tokens, GitHub and the audit log: what the platform promises. Data only.
import type { Alert } from './alert.ts'

const steady = (value: number): string => `${value}x60`
/** The notation has no repetition of it. */
const unknown = Array.from({ length: 61 }, () => 'NaN').join(' ')

export const tokenAlerts: readonly Alert[] = [
  {
    name: 'SekishoTokensNotRevoked',
    expression: 'max(sekisho_tokens{state="revoking"}) > 0',
    for: '10m',
    severity: 'critical',
    summary: '{{ $value }} tokens whose grant, Installation or subject ended are not revoked at GitHub.',
    example: {
      minutes: 30,
      fires: { 'sekisho_tokens{state="revoking"}': steady(2) },
      // Revocations come and go, and those of a suspended installation can be used for nothing.
      silent: { 'sekisho_tokens{state="revoking"}': '0 3 0x5 1x8 0x40', 'sekisho_tokens{state="suspended"}': steady(4) },
    },
  },
  {
    name: 'SekishoBreakGlass',
    // What was withdrawn before a scrape is in the counter alone; a counter that starts anew knows nothing of what stands.
    expression: 'max(sekisho_break_glass_approvals) > 0 or sum(increase(sekisho_break_glass_total[1h])) > 0',
    for: '0m',
    severity: 'warning',
    summary:
      'Grants are open by break-glass, or were within the last hour: a platform admin stands for the approvals that they need.',
    example: {
      minutes: 30,
      // Given and withdrawn between two scrapes.
      fires: { sekisho_break_glass_approvals: '0x60', 'sekisho_break_glass_total{pod="a"}': '0x20 1x40' },
      // Of yesterday, and of a leader that was replaced.
      silent: {
        sekisho_break_glass_approvals: '0x60',
        'sekisho_break_glass_total{pod="a"}': '3x60',
        'sekisho_break_glass_total{pod="b"}': '1x10 0x50',
      },
    },
  },
  {
    name: 'SekishoTokensFail',
    expression:
      'sum by (reason) (rate(sekisho_token_refusals_total{reason=~"AppNotUsable|CredentialRefused|GitHubUnreachable|RateLimited|Internal|Other"}[10m])) > 0.05',
    for: '10m',
    severity: 'warning',
    summary: 'Requests for tokens fail ({{ $labels.reason }}), and not because of who asked.',
    example: {
      minutes: 40,
      fires: { 'sekisho_token_refusals_total{reason="GitHubUnreachable"}': '0+12x60' },
      silent: {
        'sekisho_token_refusals_total{reason="NotASubject"}': '0+600x60',
        'sekisho_token_refusals_total{reason="GitHubUnreachable"}': '0x20 3x40',
      },
    },
  },
  {
    name: 'SekishoTokensSlow',
    expression:
      'histogram_quantile(0.95, sum by (le) (rate(sekisho_token_request_duration_seconds_bucket{result="delivered"}[15m]))) > 5',
    for: '15m',
    severity: 'warning',
    summary: 'One request for a token in twenty takes longer than {{ $value | humanizeDuration }}.',
    example: {
      minutes: 60,
      fires: {
        'sekisho_token_request_duration_seconds_bucket{result="delivered",le="5"}': '0+10x60',
        'sekisho_token_request_duration_seconds_bucket{result="delivered",le="15"}': '0+20x60',
        'sekisho_token_request_duration_seconds_bucket{result="delivered",le="+Inf"}': '0+20x60',
      },
      silent: {
        'sekisho_token_request_duration_seconds_bucket{result="delivered",le="5"}': '0+20x60',
        'sekisho_token_request_duration_seconds_bucket{result="delivered",le="15"}': '0+20x60',
        'sekisho_token_request_duration_seconds_bucket{result="delivered",le="+Inf"}': '0+20x60',
      },
    },
  },
  {
    name: 'SekishoGitHubFails',
    expression:
      'sum(rate(sekisho_github_requests_total{code=~"0|5.."}[10m])) / sum(rate(sekisho_github_requests_total[10m])) > 0.2',
    for: '10m',
    severity: 'warning',
    summary:
      'GitHub does not answer {{ $value | humanizePercentage }} of the requests of the controllers, or answers with a server error.',
    example: {
      minutes: 40,
      fires: {
        'sekisho_github_requests_total{operation="read",code="200"}': '0+5x60',
        'sekisho_github_requests_total{operation="read",code="0"}': '0+5x60',
      },
      silent: {
        'sekisho_github_requests_total{operation="read",code="200"}': '0+50x60',
        'sekisho_github_requests_total{operation="read",code="404"}': '0+50x60',
        'sekisho_github_requests_total{operation="read",code="502"}': '0+1x60',
      },
    },
  },
  {
    name: 'SekishoGitHubAppLimitLow',
    expression:
      'min by (host, app) (sekisho_github_app_rate_limit_remaining_requests / sekisho_github_app_rate_limit_requests) < 0.1',
    for: '5m',
    severity: 'critical',
    summary:
      'GitHub App {{ $labels.app }} on {{ $labels.host }} has {{ $value | humanizePercentage }} of its requests of this hour left.',
    example: {
      minutes: 20,
      fires: {
        'sekisho_github_app_rate_limit_requests{host="github.com",app="1"}': steady(5000),
        'sekisho_github_app_rate_limit_remaining_requests{host="github.com",app="1"}': steady(400),
      },
      silent: {
        'sekisho_github_app_rate_limit_requests{host="github.com",app="1"}': steady(5000),
        'sekisho_github_app_rate_limit_remaining_requests{host="github.com",app="1"}': '5000-50x60',
      },
    },
  },
  {
    name: 'SekishoGitHubInstallationLimitLow',
    expression:
      'min by (host, installation) (sekisho_github_installation_rate_limit_remaining_requests / sekisho_github_installation_rate_limit_requests) < 0.05',
    for: '5m',
    severity: 'warning',
    summary:
      'Installation {{ $labels.installation }} on {{ $labels.host }} has {{ $value | humanizePercentage }} of its requests of this hour left.',
    example: {
      minutes: 20,
      fires: {
        'sekisho_github_installation_rate_limit_requests{host="github.com",installation="7"}': steady(5000),
        'sekisho_github_installation_rate_limit_remaining_requests{host="github.com",installation="7"}': steady(100),
      },
      silent: {
        'sekisho_github_installation_rate_limit_requests{host="github.com",installation="7"}': steady(5000),
        'sekisho_github_installation_rate_limit_remaining_requests{host="github.com",installation="7"}': steady(1000),
      },
    },
  },
  {
    name: 'SekishoAuditLogProblem',
    expression: 'max(sekisho_audit_log_problem) == 1',
    for: '0m',
    severity: 'critical',
    summary: 'The audit log contradicts a checkpoint that is kept outside the database, or entries of it are missing.',
    example: {
      minutes: 5,
      fires: { 'sekisho_audit_log_problem{instance="a"}': steady(1), 'sekisho_audit_log_problem{instance="b"}': unknown },
      silent: { 'sekisho_audit_log_problem{instance="a"}': steady(0), 'sekisho_audit_log_problem{instance="b"}': unknown },
    },
  },
  {
    name: 'SekishoAuditLogNotCompared',
    expression: 'time() - max(sekisho_audit_compared_timestamp_seconds) > 1800',
    for: '5m',
    severity: 'critical',
    summary:
      'The audit log was compared with its checkpoints {{ $value | humanizeDuration }} ago: nothing attests what was written since.',
    example: {
      minutes: 60,
      fires: { sekisho_audit_compared_timestamp_seconds: steady(0) },
      silent: { sekisho_audit_compared_timestamp_seconds: '0+60x60' },
    },
  },
  {
    name: 'SekishoAuditBucketBehind',
    expression: 'max(sekisho_audit_bucket_missing_checkpoints) > 0',
    for: '30m',
    severity: 'warning',
    summary: 'The bucket does not have {{ $value }} checkpoints of the audit log.',
    example: {
      minutes: 60,
      fires: { 'sekisho_audit_bucket_missing_checkpoints{instance="a"}': steady(3) },
      // Where there is no bucket, on a replica that does not lead, and after a time in which the store was away.
      silent: {
        'sekisho_audit_bucket_missing_checkpoints{instance="a"}': '0x10 1 2 3 4 5 0x45',
        'sekisho_audit_bucket_missing_checkpoints{instance="b"}': unknown,
      },
    },
  },
  {
    name: 'SekishoAuditBucketChanged',
    expression: 'max(sekisho_audit_bucket_changed_checkpoints) > 0',
    for: '0m',
    severity: 'critical',
    summary: '{{ $value }} checkpoints of the audit log in the bucket have another content than was written.',
    example: {
      minutes: 5,
      fires: {
        'sekisho_audit_bucket_changed_checkpoints{instance="a"}': steady(1),
        'sekisho_audit_bucket_changed_checkpoints{instance="b"}': unknown,
      },
      silent: {
        'sekisho_audit_bucket_changed_checkpoints{instance="a"}': steady(0),
        'sekisho_audit_bucket_changed_checkpoints{instance="b"}': unknown,
      },
    },
  },
  {
    name: 'SekishoAuditLogRefusesEntries',
    expression: 'sum(increase(sekisho_audit_append_failures_total[10m])) > 0',
    for: '0m',
    severity: 'critical',
    summary: 'The audit log did not accept records: tokens and sign-ins that need one are refused.',
    example: {
      minutes: 10,
      fires: { sekisho_audit_append_failures_total: '0x5 3x55' },
      silent: { sekisho_audit_append_failures_total: steady(4) },
    },
  },
]
