/** Every text that is seen, in one place for translation. */
export const words = {
  title: "Gamekeeper",
  loading: "Loading …",
  signIn: "You are not signed in. Open the address that the server told when it was started.",
  failed: "The server cannot be reached. Is it still running?",
  forms: (n: string) => `${n} forms`,
} as const;
