import js from "@eslint/js";
import globals from "globals";

export default [
  {
    files: ["**/*.js"],
    ...js.configs.recommended,
    languageOptions: { globals: globals.browser, sourceType: "module", ecmaVersion: 2023 },
    rules: {
      ...js.configs.recommended.rules,
      eqeqeq: "error",
      "no-var": "error",
      "prefer-const": "error",
      "no-unused-vars": ["error", { ignoreRestSiblings: true }],
      "no-restricted-properties": ["error", { property: "innerHTML" }, { property: "outerHTML" }],
    },
  },
];
