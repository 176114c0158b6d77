/** An entry of the audit log, from the store or as the platform sent it: its fields are looked at one by one. */
export type LogEntry = Readonly<Record<string, unknown>> & { readonly sequence: number }
