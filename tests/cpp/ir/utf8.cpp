// Tests UTF-8 against the Unicode Standard (section 3.9, table 3-7).
#include "ir/text/utf8.h"

#include <gtest/gtest.h>

namespace alloy::ir {
namespace {

struct Case {
  std::string_view what;
  std::string given;
  std::string expected;  // of to_utf8: the same text if it is UTF-8
};

const Case kCases[] = {
    {"no text", "", ""},
    {"one byte", "a~\x7f", "a~\x7f"},
    {"zero", std::string("a\0b", 3), std::string("a\0b", 3)},
    {"two bytes, the first", "\xc2\x80", "\xc2\x80"},
    {"two bytes, the last", "\xdf\xbf", "\xdf\xbf"},
    {"three bytes, the first", "\xe0\xa0\x80", "\xe0\xa0\x80"},
    {"three bytes, before the surrogates", "\xed\x9f\xbf", "\xed\x9f\xbf"},
    {"three bytes, behind the surrogates", "\xee\x80\x80", "\xee\x80\x80"},
    {"three bytes, the last", "\xef\xbf\xbf", "\xef\xbf\xbf"},
    {"four bytes, the first", "\xf0\x90\x80\x80", "\xf0\x90\x80\x80"},
    {"four bytes, U+1F600", "\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80"},
    {"four bytes, the last", "\xf4\x8f\xbf\xbf", "\xf4\x8f\xbf\xbf"},
    {"all lengths", "a\u00e4\u20ac\U0001f600z", "a\u00e4\u20ac\U0001f600z"},
    {"a following byte alone", "a\x80z", "a?z"},
    {"bytes that never occur", "\xc0\xc1\xf5\xfe\xff", "?????"},
    {"overlong, two bytes", "\xc1\xbf", "??"},
    {"overlong, three bytes", "\xe0\x9f\xbf", "???"},
    {"overlong, four bytes", "\xf0\x8f\xbf\xbf", "????"},
    {"overlong zero", "\xc0\x80", "??"},
    {"the first surrogate", "\xed\xa0\x80", "???"},
    {"the last surrogate", "\xed\xbf\xbf", "???"},
    {"beyond U+10FFFF", "\xf4\x90\x80\x80", "????"},
    {"five bytes", "\xf8\x88\x80\x80\x80", "?????"},
    {"cut off, of two", "a\xc3", "a?"},
    {"cut off, of three", "a\xe2\x82", "a??"},
    {"cut off, of four", "a\xf0\x9f\x98", "a???"},
    {"cut off by a letter", "\xe2\x82z\xf0\x9fz", "??z??z"},
    {"cut off by a character", "\xe2\xc3\xa4", "?\u00e4"},
};

TEST(Utf8, IsToldFromOtherBytes) {
  for (const Case& each : kCases) {
    EXPECT_EQ(is_utf8(each.given), each.given == each.expected) << each.what;
    EXPECT_EQ(to_utf8(each.given), each.expected) << each.what;
  }
}

}  // namespace
}  // namespace alloy::ir
