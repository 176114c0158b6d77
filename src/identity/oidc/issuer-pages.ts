// The pages the issuer shows itself, as a port: the broker draws them. Values come unescaped; forms must post back exactly what is named here.

/** A form's target and its cross-site secret, to be sent back as `xsrf`. */
export type PageForm = { readonly action: string; readonly xsrf: string }

export type DeviceRequest = {
  readonly clientName: string
  readonly userCode: string
  readonly address: string
  readonly agent: string
}

export type IssuerPages = {
  /** Asks for a code: one field `user_code`. */
  readonly deviceCode: (form: PageForm, problem: string | undefined) => string
  /** Shows what asks and where it asked from; sends `user_code` with `confirm=yes` or `abort=yes`. */
  readonly deviceConfirmation: (form: PageForm, request: DeviceRequest) => string
  readonly deviceDone: () => string
  /** Sends `logout=yes`. */
  readonly endSession: (form: PageForm) => string
  readonly sessionEnded: () => string
  readonly problem: (message: string) => string
}
