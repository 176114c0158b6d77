// The Grafana dashboard of the platform: rows of panels as data, and the JSON that Grafana imports. Its source of data is chosen
// in Grafana.
// Source: https://grafana.com/docs/grafana/latest/dashboards/build-dashboards/view-dashboard-json-model/

/** A panel; `legend` is Grafana's template of the name of a series. */
export type Panel = {
  readonly title: string
  readonly unit: 'short' | 's' | 'percentunit' | 'reqps' | 'bytes' | 'dateTimeFromNow'
  readonly kind?: 'stat'
  readonly queries: readonly { readonly expression: string; readonly legend: string }[]
}

export type Row = { readonly title: string; readonly panels: readonly Panel[] }

const quantiles = (name: string, by: string, filter = ''): Panel['queries'] =>
  [0.5, 0.95, 0.99].map(quantile => ({
    expression: `histogram_quantile(${quantile}, sum by (le${by === '' ? '' : `, ${by}`}) (rate(${name}_bucket${filter}[$__rate_interval])))`,
    legend: `p${quantile * 100}${by === '' ? '' : ` {{${by}}}`}`,
  }))
const one = (expression: string, legend = ''): Panel['queries'] => [{ expression, legend }]
const rate = (name: string, by: string, filter = ''): Panel['queries'] =>
  one(`sum by (${by}) (rate(${name}${filter}[$__rate_interval]))`, `{{${by}}}`)

export const rows: readonly Row[] = [
  {
    title: 'Tokens',
    panels: [
      { title: 'Live tokens and revocations', unit: 'short', queries: one('max by (state) (sekisho_tokens)', '{{state}}') },
      {
        title: 'Delivered',
        unit: 'reqps',
        queries: one('sum(rate(sekisho_tokens_delivered_total[$__rate_interval]))', 'delivered'),
      },
      { title: 'Refused, by reason', unit: 'reqps', queries: rate('sekisho_token_refusals_total', 'reason') },
      { title: 'Time of a request', unit: 's', queries: quantiles('sekisho_token_request_duration_seconds', 'result') },
      { title: 'Time of a mint', unit: 's', queries: quantiles('sekisho_token_mint_duration_seconds', 'result') },
      { title: 'Time of a revocation', unit: 's', queries: quantiles('sekisho_token_revocation_duration_seconds', 'result') },
      {
        title: 'Grants',
        unit: 'short',
        queries: one('max by (decision, ready) (sekisho_grants)', '{{decision}}, ready {{ready}}'),
      },
    ],
  },
  {
    title: 'GitHub',
    panels: [
      {
        title: 'Left of the limit of each App',
        unit: 'percentunit',
        queries: one(
          'min by (host, app) (sekisho_github_app_rate_limit_remaining_requests / sekisho_github_app_rate_limit_requests)',
          '{{host}} {{app}}',
        ),
      },
      {
        title: 'Left of the limits of the installations with the least',
        unit: 'percentunit',
        queries: one(
          'min by (host, installation) (sekisho_github_installation_rate_limit_remaining_requests / sekisho_github_installation_rate_limit_requests)',
          '{{host}} {{installation}}',
        ),
      },
      {
        title: 'Hour of the limit of each App ends',
        unit: 'dateTimeFromNow',
        kind: 'stat',
        queries: one('max by (host, app) (sekisho_github_app_rate_limit_reset_timestamp_seconds) * 1000', '{{host}} {{app}}'),
      },
      { title: 'Requests, by status', unit: 'reqps', queries: rate('sekisho_github_requests_total', 'code') },
      { title: 'Time of an answer', unit: 's', queries: quantiles('sekisho_github_request_duration_seconds', 'operation') },
      {
        title: 'Requests in the name of people, by status',
        unit: 'reqps',
        queries: rate('sekisho_broker_github_requests_total', 'code'),
      },
      {
        title: 'Time of an answer to a person’s request',
        unit: 's',
        queries: quantiles('sekisho_broker_github_request_duration_seconds', ''),
      },
    ],
  },
  {
    title: 'Webhooks, people and tenants',
    panels: [
      { title: 'Inbox', unit: 'short', queries: one('max(sekisho_webhook_inbox_deliveries)', 'deliveries') },
      { title: 'Age of the oldest delivery', unit: 's', queries: one('max(sekisho_webhook_inbox_oldest_seconds)', 'age') },
      {
        title: 'Deliveries',
        unit: 'reqps',
        queries: [
          ...rate('sekisho_webhook_deliveries_received_total', 'result'),
          ...one('sum(rate(sekisho_webhook_deliveries_refused_total[$__rate_interval]))', 'refused'),
          ...rate('sekisho_webhook_deliveries_ignored_total', 'reason'),
          ...rate('sekisho_webhook_deliveries_handled_total', 'result'),
        ],
      },
      {
        title: 'Sign-ins',
        unit: 'reqps',
        queries: [
          ...rate('sekisho_sign_ins_total', 'result'),
          ...one(
            'sum(rate(sekisho_audit_entries_total{action="kubectl-token.issued"}[$__rate_interval]))',
            'ID tokens of programs',
          ),
        ],
      },
      { title: 'Onboardings', unit: 'short', queries: one('max by (state) (sekisho_onboardings)', '{{state}}') },
      { title: 'Tenants', unit: 'short', queries: one('max by (ready) (sekisho_tenants)', 'ready {{ready}}') },
    ],
  },
  {
    title: 'Builds',
    panels: [
      { title: 'Running and waiting', unit: 'short', queries: one('max by (state) (sekisho_builds)', '{{state}}') },
      { title: 'Ended, by outcome', unit: 'reqps', queries: rate('sekisho_build_duration_seconds_count', 'outcome') },
      { title: 'Duration', unit: 's', queries: quantiles('sekisho_build_duration_seconds', '', '{outcome="Succeeded"}') },
    ],
  },
  {
    title: 'Audit log',
    panels: [
      { title: 'Problem', unit: 'short', kind: 'stat', queries: one('max(sekisho_audit_log_problem)', 'problem') },
      { title: 'Newest entry', unit: 'short', kind: 'stat', queries: one('max(sekisho_audit_head_sequence)', 'entry') },
      {
        title: 'Age of the newest checkpoint, and of the last comparison',
        unit: 's',
        queries: [
          ...one('time() - max(sekisho_audit_checkpoint_timestamp_seconds)', 'checkpoint'),
          ...one('time() - max(sekisho_audit_compared_timestamp_seconds)', 'comparison'),
        ],
      },
      {
        title: 'Checkpoints in the bucket, where there is one',
        unit: 'short',
        queries: [
          ...one('max(sekisho_audit_bucket_missing_checkpoints)', 'missing'),
          ...one('max(sekisho_audit_bucket_changed_checkpoints)', 'changed'),
        ],
      },
      { title: 'Entries', unit: 'reqps', queries: rate('sekisho_audit_entries_total', 'action') },
      {
        title: 'Not accepted',
        unit: 'reqps',
        queries: one('sum(rate(sekisho_audit_append_failures_total[$__rate_interval]))', 'failures'),
      },
    ],
  },
  {
    title: 'Processes',
    panels: [
      { title: 'Requests, by status', unit: 'reqps', queries: rate('sekisho_http_requests_total', 'server, code') },
      { title: 'Time of an answer', unit: 's', queries: quantiles('sekisho_http_request_duration_seconds', 'server') },
      { title: 'Leaders', unit: 'short', queries: one('sum by (process) (leader_election_master_status)', '{{process}}') },
      {
        title: 'Reconciles that failed',
        unit: 'reqps',
        queries: rate('controller_runtime_reconcile_total', 'controller', '{result=~"error|timeout"}'),
      },
      { title: 'Keys that wait', unit: 'short', queries: one('sum by (controller) (workqueue_depth)', '{{controller}}') },
      {
        title: 'Time of requests to the API server',
        unit: 's',
        queries: quantiles('rest_client_request_duration_seconds', 'verb'),
      },
      { title: 'Memory', unit: 'bytes', queries: one('max by (process) (process_resident_memory_bytes)', '{{process}}') },
      {
        title: 'Lag of the event loop (p99)',
        unit: 's',
        queries: one('max by (process) (nodejs_eventloop_lag_p99_seconds)', '{{process}}'),
      },
    ],
  },
]

const datasource = { type: 'prometheus', uid: '$datasource' }
const width = 8
const height = 7
const columns = 24 / width

/** The JSON model of Grafana 10 and later. */
export function dashboard(): unknown {
  let y = 0
  let id = 0
  const panels: unknown[] = []
  for (const row of rows) {
    panels.push({ id: ++id, type: 'row', title: row.title, collapsed: false, panels: [], gridPos: { x: 0, y, w: 24, h: 1 } })
    y += 1
    row.panels.forEach((panel, index) => {
      const gridPos = { x: (index % columns) * width, y: y + Math.floor(index / columns) * height, w: width, h: height }
      panels.push({ id: ++id, gridPos, ...panelModel(panel) })
    })
    y += Math.ceil(row.panels.length / columns) * height
  }
  return {
    uid: 'sekisho',
    title: 'Sekisho',
    tags: ['sekisho'],
    editable: true,
    schemaVersion: 39,
    time: { from: 'now-6h', to: 'now' },
    refresh: '1m',
    templating: { list: [{ name: 'datasource', label: 'Data source', type: 'datasource', query: 'prometheus', current: {} }] },
    panels,
  }
}

function panelModel({ title, unit, kind = undefined, queries }: Panel): Record<string, unknown> {
  return {
    type: kind ?? 'timeseries',
    title,
    datasource,
    fieldConfig: { defaults: { unit, min: unit === 'dateTimeFromNow' ? null : 0 }, overrides: [] },
    options:
      kind === 'stat' ? { reduceOptions: { calcs: ['lastNotNull'] } } : { legend: { displayMode: 'list', placement: 'bottom' } },
    targets: queries.map(({ expression: expr, legend: legendFormat }, index) => ({
      refId: String.fromCharCode(65 + index),
      datasource,
      expr,
      legendFormat,
    })),
  }
}
