// The shape of an alert. Data only.

/** `critical`: a promise is at risk, or the platform serves nobody: wake somebody. `warning`: look at it in working hours. */
export type Severity = 'critical' | 'warning'

/** Series → values at one-minute steps, in the notation of `promtool test rules`, such as `0+1x30`. */
export type Series = Readonly<Record<string, string>>

export type Alert = {
  /** Also the heading of its section in docs/guide/operations.md. */
  readonly name: `Sekisho${string}`
  /** Refers to metrics of the platform only: `monitoringFiles` refuses any other. */
  readonly expression: string
  /** How long it has to be true; a Prometheus duration. */
  readonly for: string
  readonly severity: Severity
  /** One sentence; `{{ $value }}` and labels may be used. */
  readonly summary: string
  /** What `promtool test rules` plays: it fires at the end of the first, and never within the second. */
  readonly example: {
    readonly minutes: number
    readonly fires: Series
    readonly silent: Series
    /** It fires without any series, too. */
    readonly firesWithout?: true
  }
}
